//! Against a stub that answers as the services' documentation shows, and that misbehaves.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    http::{StatusCode, Uri},
    response::IntoResponse,
};
use rstest::rstest;
use serde_json::json;

use super::*;

/// One result of Nominatim.
fn springfield(id: u64, state: &str, latitude: &str) -> Value {
    json!({
        "place_id": id, "osm_type": "relation", "osm_id": id, "lat": latitude, "lon": "-89.6439575",
        "category": "boundary", "type": "administrative", "addresstype": "city", "name": "Springfield",
        "display_name": format!("Springfield, {state}, United States"),
        "address": {"city": "Springfield", "state": state, "country": "United States", "country_code": "us"},
        "boundingbox": ["39.6", "39.9", "-89.8", "-89.5"],
    })
}

struct Stub {
    url: Url,
    asked: Arc<Mutex<Vec<String>>>,
}

/// A service that answers every request with `answer`, and notes what it was asked.
async fn stub(status: u16, answer: String) -> Stub {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    let app = Router::new().fallback(move |uri: Uri| {
        notes.lock().unwrap().push(uri.to_string());
        let answer = answer.clone();
        async move {
            if answer == "slow" {
                tokio::time::sleep(Duration::from_secs(30)).await;
            }
            (StatusCode::from_u16(status).unwrap(), answer).into_response()
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/base/", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    Stub { url, asked }
}

fn options(url: Url) -> Options {
    Options {
        url,
        key: Some(Secret::new("very-secret".to_owned())),
        timeout: Duration::from_millis(500),
        language: "en".to_owned(),
    }
}

#[tokio::test]
async fn several_of_one_name_fit_equally_well() {
    let answer = json!([
        springfield(1, "Missouri", "37.2"),
        springfield(2, "Illinois", "39.8"),
        // The boundary of the same city again.
        springfield(3, "Illinois", "39.81"),
    ]);
    let stub = stub(200, answer.to_string()).await;
    let geocoder = Geocoder::nominatim(options(stub.url.clone())).unwrap();
    let found = geocoder.search("springfield", 10, true).await.unwrap();
    let ids: Vec<&str> = found.places.iter().map(|place| place.id.as_str()).collect();
    assert_eq!((ids, found.fitting, found.how), (vec!["R1", "R2"], 2, How::Exact));
    let first = &found.places[0];
    assert_eq!(
        (first.country_code.as_deref(), first.admin.as_slice()),
        (Some("US"), &["Missouri".to_owned()][..])
    );
    assert_eq!(first.bounding_box, Some([39.6, -89.8, 39.9, -89.5]));
    assert_eq!(first.point, Point { latitude: 37.2, longitude: -89.6439575 });
    assert_eq!(first.label(), "Springfield, Missouri, United States");
    assert_eq!(
        stub.asked.lock().unwrap().as_slice(),
        ["/base/search?q=springfield&limit=10&format=jsonv2&addressdetails=1&accept-language=en"]
    );
}

#[tokio::test]
async fn what_is_called_otherwise_is_a_guess() {
    let stub = stub(200, json!([springfield(1, "Missouri", "37.2")]).to_string()).await;
    let geocoder = Geocoder::nominatim(options(stub.url)).unwrap();
    let found = geocoder.search("Sprngfild", 10, true).await.unwrap();
    assert_eq!((found.fitting, found.how), (1, How::Similar(1)));
}

#[tokio::test]
async fn ids_are_looked_up_and_others_ask_nobody() {
    let stub = stub(200, json!([springfield(7, "Ohio", "39.9")]).to_string()).await;
    let geocoder = Geocoder::nominatim(options(stub.url.clone())).unwrap();
    assert_eq!(geocoder.get("R7").await.unwrap().unwrap().name, "Springfield");
    assert!(geocoder.get("R8").await.unwrap().is_none(), "the answer is of another id");
    assert_eq!(stub.asked.lock().unwrap().len(), 2);
    for other in ["", "7", "X7", "R7,R8", "R7&format=xml", "R-7", "R123456789012345678901"] {
        assert!(geocoder.get(other).await.unwrap().is_none(), "{other}");
    }
    assert_eq!(stub.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_query_cannot_add_parameters() {
    let stub = stub(200, "[]".to_owned()).await;
    let geocoder = Geocoder::nominatim(options(stub.url.clone())).unwrap();
    geocoder.search("a&limit=1000#x?y=/../z", 5, true).await.unwrap();
    let asked = stub.asked.lock().unwrap()[0].clone();
    assert!(asked.starts_with("/base/search?q=a%26limit%3D1000%23x%3Fy%3D%2F..%2Fz&limit=5&"), "{asked}");
}

#[rstest]
#[case(500, "broken", "answered with status 500")]
#[case(429, "{}", "answered with status 429")]
#[case(302, "", "answered with status 302")]
#[case(200, "<html>", "answered with something that is no JSON")]
#[case(200, "slow", "did not answer within 500ms")]
#[tokio::test]
async fn trouble_is_unavailability_and_names_no_query(
    #[case] status: u16,
    #[case] answer: &str,
    #[case] why: &str,
) {
    let stub = stub(status, answer.to_owned()).await;
    let geocoder = Geocoder::mapbox(options(stub.url)).unwrap();
    let error = geocoder.search("my secret place", 5, true).await.unwrap_err();
    assert_eq!(error.to_string(), format!("the geocoder {why}; try again later"));
    assert!(matches!(error, SourceError::Unavailable(_)));
    assert_eq!(geocoder.health(), Health::Unhealthy(format!("the geocoder {why}")));
}

#[tokio::test]
async fn a_geocoder_that_is_gone_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let error = Geocoder::photon(options(url)).unwrap().search("x", 5, true).await.unwrap_err();
    assert_eq!(error.to_string(), "the geocoder cannot be reached; try again later");
}

#[rstest]
#[case(json!(null))]
#[case(json!([]))]
#[case(json!([1, null, {}, {"osm_type": "node"}]))]
#[case(json!([{"osm_type": "node", "osm_id": -1, "name": "x", "lat": "1", "lon": "2"}]))]
#[case(json!([{"osm_type": "node", "osm_id": 1, "name": "x", "lat": "NaN", "lon": "2"}]))]
#[case(json!([{"osm_type": "node", "osm_id": 1, "name": "x", "lat": 95, "lon": 2}]))]
#[case(json!({"error": "Unable to geocode"}))]
#[case(json!({"features": [{"properties": {"name": "x"}, "geometry": {"coordinates": ["a"]}}]}))]
fn what_makes_no_sense_is_left_out(#[case] answer: Value) {
    assert_eq!(nominatim::Nominatim.read(&answer), []);
    assert_eq!(photon::Photon.read(&answer), []);
    assert_eq!(mapbox::Mapbox.read(&answer), []);
}

#[tokio::test]
async fn photon_finds_an_id_again_by_its_point() {
    let answer = json!({"type": "FeatureCollection", "features": [{
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [13.3888599, 52.5170365]},
        "properties": {
            "osm_type": "R", "osm_id": 62422, "osm_key": "place", "osm_value": "city", "type": "city",
            "name": "Berlin", "country": "Germany", "countrycode": "DE", "state": "Berlin",
            "extent": [13.08, 52.67, 13.76, 52.33],
        },
    }]});
    let stub = stub(200, answer.to_string()).await;
    let geocoder = Geocoder::photon(options(stub.url.clone())).unwrap();
    let found = geocoder.search("Berlin", 3, true).await.unwrap().places.remove(0);
    assert_eq!(found.id, "R62422@52.51704,13.38886");
    assert_eq!(found.bounding_box, Some([52.33, 13.08, 52.67, 13.76]));
    assert_eq!(found.context(), "Germany");
    assert_eq!(geocoder.get(&found.id).await.unwrap(), Some(found.clone()));
    assert_eq!(
        stub.asked.lock().unwrap().as_slice(),
        ["/base/api?q=Berlin&limit=3&lang=en", "/base/reverse?lat=52.51704&lon=13.38886&limit=20&lang=en"]
    );
}

#[tokio::test]
async fn mapbox_gets_its_key_and_reads_its_context() {
    let answer = json!({"type": "FeatureCollection", "features": [{
        "type": "Feature",
        "properties": {
            "mapbox_id": "dXJuOm1ieHBsYzo", "feature_type": "place", "name": "Springfield",
            "place_formatted": "Illinois, United States", "full_address": "Springfield, Illinois, United States",
            "coordinates": {"longitude": -89.65, "latitude": 39.79}, "bbox": [-89.77, 39.67, -89.56, 39.86],
            "context": {"region": {"name": "Illinois"}, "country": {"name": "United States", "country_code": "US"}},
        },
    }]});
    let stub = stub(200, answer.to_string()).await;
    let geocoder = Geocoder::mapbox(options(stub.url.clone())).unwrap();
    let found = geocoder.search("Springfield, IL", 50, true).await.unwrap();
    assert_eq!((found.fitting, found.places[0].context()), (1, "Illinois, United States".to_owned()));
    assert_eq!(found.places[0].bounding_box, Some([39.67, -89.77, 39.86, -89.56]));
    assert_eq!(
        stub.asked.lock().unwrap()[0],
        "/base/search/geocode/v6/forward?q=Springfield%2C+IL&limit=10&language=en&access_token=very-secret"
    );
}
