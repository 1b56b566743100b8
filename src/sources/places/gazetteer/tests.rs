#![allow(clippy::unwrap_used, reason = "test code")]

use rstest::rstest;

use super::*;

fn search(text: &str) -> Matches {
    Gazetteer::shared().unwrap().search(text, 50, true)
}

fn ids(matches: &Matches) -> Vec<&str> {
    matches.places.iter().take(matches.fitting).map(|place| place.id.as_str()).collect()
}

// The ids are GeoNames': https://www.geonames.org/2988507 is Paris, France.
#[rstest]
#[case::own_name("Munich", "2867714", How::Exact)]
#[case::alternate_name("München", "2867714", How::Exact)]
#[case::no_accent("Munchen", "2867714", How::Exact)]
#[case::exonym("Cologne", "2886242", How::Exact)]
#[case::old_name("Bombay", "1275339", How::Exact)]
#[case::other_script("東京", "1850147", How::Exact)]
#[case::division_and_comma("Springfield, Illinois", "4250542", How::Exact)]
#[case::division_code("Paris TX", "4717560", How::Exact)]
#[case::country_first("France Paris", "2988507", How::Exact)]
#[case::country("paris, france", "2988507", How::Exact)]
#[case::country_alias("Birmingham, UK", "2655603", How::Exact)]
#[case::slip_in_qualifier("Springfield, Ilinois", "4250542", How::Exact)]
#[case::question("Where is Reykjavik?", "3413829", How::Exact)]
#[case::beginning("Ouagadou", "2357048", How::Beginning)]
#[case::slip("Budapset", "3054643", How::Similar(1))]
#[case::two_slips("Copenhaagn", "2618425", How::Similar(2))]
fn one_place(#[case] text: &str, #[case] id: &str, #[case] how: How) {
    let found = search(text);
    assert_eq!((ids(&found), found.how), (vec![id], how), "{text}");
}

#[test]
fn all_that_go_by_a_name_fit() {
    let found = search("Springfield");
    // The eight of 15,000 inhabitants and more: MO, MA, IL, OR, OH, VA, PA, TN, by population.
    let expected = ["4409896", "4951788", "4250542", "5754005", "4525353", "4787117", "4561407", "4659557"];
    assert_eq!(ids(&found), expected);
    assert_eq!(ids(&search("springfield usa")), expected);
}

#[test]
fn names_that_are_only_also_used_do_not_stand_beside() {
    // Agawam is a town in Massachusetts, and an old name of its neighbour Springfield.
    assert_eq!(ids(&search("Agawam")), ["4928788"]);
}

#[test]
fn a_name_in_a_longer_text_is_a_doubtful_answer() {
    assert_eq!(ids(&search("zurich airport")), ["2657896"]);
    let found = search("good restaurants in Munich");
    assert_eq!((ids(&found), found.how), (vec!["2867714"], How::Part));
    assert_eq!(found.unknown, ["good", "restaurants"]);
}

#[rstest]
#[case("qqqqqqqqqq")]
#[case("how do I configure state keys")]
#[case("?")]
#[case("Springfield, Zanzibar")]
fn nothing_is_made_up(#[case] text: &str) {
    let found = search(text);
    assert!(found.places.is_empty() || found.how == How::Part, "{found:?}");
}

#[test]
fn without_leniency_a_query_has_to_be_a_name() {
    let strict = |text: &str| Gazetteer::shared().unwrap().search(text, 5, false).places.len();
    assert_eq!(strict("Reykjavik"), 1);
    assert_eq!(strict("where is Reykjavik?"), 1);
    assert_eq!(strict("reykjavik iceland"), 1);
    for other in
        ["reykjavik", "Reykja", "Reykjavk", "Flights to Reykjavik", "nice", "How do I run two replicas?"]
    {
        assert_eq!(strict(other), 0, "{other}");
    }
}

#[test]
fn a_point_finds_the_nearest_places() {
    let found = search("48.85, 2.35");
    assert_eq!((found.how, ids(&found)), (How::Point, vec!["2988507"]));
    let here = Point { latitude: 48.85, longitude: 2.35 };
    let away: Vec<f64> = found.places.iter().map(|place| place.point.distance(here)).collect();
    assert!(away.is_sorted() && away.len() == 50);
}

#[test]
fn the_date_line_is_no_edge() {
    // Suva (Fiji) lies at 178.44° E; from 178° W the way to it is over the date line.
    let near = Gazetteer::shared().unwrap().nearest(Point { latitude: -18.1, longitude: -179.9 }, 10);
    assert!(near.iter().any(|place| place.id == "2198148"), "{:?}", near.first());
}

#[test]
fn ids_have_one_spelling() {
    let gazetteer = Gazetteer::shared().unwrap();
    assert_eq!(gazetteer.get("2988507").unwrap().name, "Paris");
    for other in ["02988507", "+2988507", " 2988507", "", "-1", "99999999999", "1"] {
        assert!(gazetteer.get(other).is_none(), "{other}");
    }
}

#[test]
fn neighbours_of_a_division_come_by_population() {
    let beside = Gazetteer::shared().unwrap().beside("4250542", 2);
    assert_eq!(beside.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["Chicago", "Aurora"]);
}

#[test]
fn hostile_queries_end() {
    for text in ["a ".repeat(5000), "Springfield ".repeat(700), "é".repeat(8000), "in the of ".repeat(800)] {
        search(&text);
    }
}

/// Queries and what they mean, checked by hand: group, query, geonameid, and what that is.
const LABELLED: &str = include_str!("../../../../tests/data/places.tsv");

#[test]
fn what_people_type_finds_what_they_mean() {
    let rows: Vec<Vec<&str>> = LABELLED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(rows.len() >= 300);
    let (mut wrong, mut asked) = (Vec::new(), Vec::new());
    for row in &rows {
        let [group, query, id, _] = row.as_slice() else { panic!("{row:?}") };
        let found = search(query);
        if found.places.first().is_none_or(|place| place.id != *id) {
            wrong.push((query, found.places.first().map(|place| place.label())));
        }
        // Only the names that several cities go by leave a choice.
        if (found.fitting > 1) != (*group == "shared") {
            asked.push((
                query,
                found.how,
                ids(&found).len(),
                found.places.iter().take(4).map(|p| p.label()).collect::<Vec<_>>(),
            ));
        }
    }
    assert!(wrong.len() * 200 <= rows.len(), "{} of {}: {wrong:#?}", wrong.len(), rows.len());
    assert!(asked.is_empty(), "{asked:#?}");
}
