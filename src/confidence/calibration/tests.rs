use std::cell::Cell;

use proptest::prelude::*;

use super::*;

fn signals(d_mean5: f32, b_relative: f32, oov: f32) -> Signals {
    Signals {
        d_mean5,
        b_top1: b_relative * 6.0,
        b_relative,
        coh_min: 0.0,
        oov,
        clusters: 1,
        lexical_hits: 1,
        dense_hits: 1,
        gap: 0.0,
        entropy: 1.0,
    }
}

/// Passage `n` speaks only of `w{n}a w{n}b …`. Own words are near and found from two words on;
/// everything else is far. `near` is the cosine of foreign queries.
struct Toy {
    passages: usize,
    near: f32,
}

impl Corpus for Toy {
    fn passages(&self) -> usize {
        self.passages
    }

    fn passage(&self, n: usize) -> Option<CorpusPassage> {
        (n < self.passages).then(|| CorpusPassage {
            document: n / 10,
            title: format!("w{n}a w{n}b guide"),
            text: format!("w{n}a w{n}b w{n}c w{n}d w{n}e. w{n}f w{n}g w{n}h w{n}i w{n}j w{n}k"),
        })
    }

    fn content_words(&self, text: &str) -> Vec<String> {
        text.split_whitespace().map(|word| word.trim_end_matches('.').to_owned()).collect()
    }

    fn observe(&self, probes: &[Probe]) -> Result<Vec<Seen>, String> {
        Ok(probes.iter().map(|probe| self.see(probe)).collect())
    }
}

impl Toy {
    fn see(&self, probe: &Probe) -> Seen {
        let words = probe.query.split_whitespace().count();
        let own: Option<usize> = probe
            .query
            .strip_prefix('w')
            .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        // A wobble by length keeps the classes from being single points.
        let wobble = probe.query.len() as f32 / 1000.0;
        match own {
            Some(n) => Seen {
                signals: signals(0.5 + wobble, words as f32 * 0.5, 0.0),
                passages: if words > 1 && probe.leave_out != Some(n) { vec![n] } else { vec![] },
            },
            None => Seen { signals: signals(self.near + wobble, 0.2, 0.8), passages: vec![] },
        }
    }
}

fn fitted(corpus: &dyn Corpus) -> Calibration {
    let bank: Vec<&str> = crate::confidence::bank::utterances("en").collect();
    fit(corpus, &bank, &Params::default(), |_, _| ()).unwrap()
}

#[test]
fn learns_what_fits_and_what_is_foreign() {
    let calibration = fitted(&Toy { passages: 100, near: 0.1 });
    assert!(calibration.calibrated && calibration.note.is_none());
    assert_eq!(calibration.sep, Some(1.0));
    assert_eq!(calibration.sizes, Sizes { in_corpus: 300, foreign: 300, known_item: 500 });
    let of = |d, b| calibration.assess(&signals(d, b, 0.0));
    assert!(of(0.5, 2.0).confidence > 0.8);
    assert!(of(0.1, 0.2).p_ooc > of(0.1, 0.2).t_ooc);
    // One word of the corpus: not foreign, but likely to miss.
    assert!(of(0.5, 0.5).p_ooc < 0.5 && of(0.5, 0.5).p_miss > of(0.5, 1.5).p_miss);
}

#[test]
fn the_same_seed_gives_the_same_digits() {
    let toy = Toy { passages: 100, near: 0.1 };
    assert_eq!(fitted(&toy), fitted(&toy));
}

#[test]
fn an_embedding_that_does_not_separate_is_not_trusted() {
    let calibration = fitted(&Toy { passages: 100, near: 0.5 });
    assert!(calibration.sep.unwrap() < 0.9);
    assert_eq!(calibration.t_ooc, None);
    assert!(calibration.note.as_ref().unwrap().contains("AUROC"));
    let assessment = calibration.assess(&signals(0.0, 2.0, 0.0));
    assert_eq!(assessment.t_ooc, f32::INFINITY);
    assert!((assessment.confidence - (1.0 - assessment.p_miss)).abs() < 1e-6);
    // Infinity is no JSON number: absence must survive the round trip.
    let json = serde_json::to_string(&calibration).unwrap();
    assert_eq!(serde_json::from_str::<Calibration>(&json).unwrap(), calibration);
}

#[test]
fn small_or_empty_sources_are_pooled_and_say_so() {
    for passages in [0, 49] {
        let calibration = fitted(&Toy { passages, near: 0.1 });
        assert!(!calibration.calibrated && calibration.note.unwrap().contains("too few passages"));
        assert_eq!(calibration.passages, passages);
    }
    let calibration = fit(&Toy { passages: 50, near: 0.1 }, &[], &Params::default(), |_, _| ()).unwrap();
    assert!(!calibration.calibrated);
}

#[test]
fn failures_of_the_index_are_passed_on() {
    struct Broken;
    impl Corpus for Broken {
        fn passages(&self) -> usize {
            60
        }
        fn passage(&self, _: usize) -> Option<CorpusPassage> {
            Some(CorpusPassage { document: 0, title: "title".into(), text: "a text of some words".into() })
        }
        fn content_words(&self, text: &str) -> Vec<String> {
            text.split(' ').map(str::to_owned).collect()
        }
        fn observe(&self, _: &[Probe]) -> Result<Vec<Seen>, String> {
            Err("gone".into())
        }
    }
    assert_eq!(fit(&Broken, &["hello"], &Params::default(), |_, _| ()), Err("gone".into()));
}

#[test]
fn progress_ends_at_the_total() {
    let (last, total) = (Cell::new(0), Cell::new(0));
    let bank: Vec<&str> = crate::confidence::bank::utterances("en").collect();
    fit(&Toy { passages: 60, near: 0.1 }, &bank, &Params::default(), |done, of| {
        assert!(done > last.get() && done <= of);
        last.set(done);
        total.set(of);
    })
    .unwrap();
    assert_eq!((last.get(), total.get()), (1100, 1100));
}

#[test]
fn assessment_by_hand() {
    use crate::confidence::logistic::{Logistic, Term};
    let term = |weight, mean, deviation| Term { weight, mean, deviation };
    let calibration = Calibration {
        // At the mean: σ(0) = ½ foreign. Miss: σ(ln 3 − 2·1 + 0) = 3e⁻²/(1 + 3e⁻²) = 0.288768.
        ooc: Logistic { bias: 0.0, terms: vec![term(-1.0, 0.4, 0.1)] },
        miss: Logistic { bias: 3.0_f64.ln(), terms: vec![term(-1.0, 0.4, 0.1), term(-2.0, 1.0, 0.5)] },
        ..Calibration::pooled("")
    };
    let assessment = calibration.assess(&signals(0.4, 1.5, 0.0));
    assert!((assessment.p_ooc - 0.5).abs() < 1e-5);
    assert!((assessment.p_miss - 0.288_768).abs() < 1e-5);
    assert!((assessment.confidence - 0.5 * 0.711_232).abs() < 1e-5);
}

#[test]
fn stale_after_a_fifth_or_another_recipe() {
    let calibration = Calibration {
        passages: 100,
        embedding: Some("e".into()),
        recipe: Some("r".into()),
        ..Calibration::pooled("")
    };
    let outline =
        |passages, terms: u64| Outline { passages: Sketch::of(passages), vocabulary: Sketch::of(0..terms) };
    let calibration = Calibration { outline: outline(0..100, 200), ..calibration };
    let stale = |passages, terms| calibration.is_stale(&outline(passages, terms), "e", "r");
    // A fifth more, a fifth fewer, a tenth replaced, and a fifth more words are borne; more is not.
    assert!(!stale(0..120, 200) && !stale(0..80, 200) && !stale(10..110, 200) && !stale(0..100, 240));
    assert!(stale(0..121, 200) && stale(0..79, 200) && stale(11..111, 200) && stale(0..100, 241));
    let same = outline(0..100, 200);
    assert!(calibration.is_stale(&same, "f", "r") && calibration.is_stale(&same, "e", "s"));
}

proptest! {
    #[test]
    fn stronger_signals_never_lower_confidence(d in -1.0_f32..1.0, b in 0.0_f32..10.0, dd in 0.0_f32..1.0, db in 0.0_f32..10.0) {
        let pooled = Calibration::pooled("");
        let (weak, strong) = (pooled.assess(&signals(d, b, 0.0)), pooled.assess(&signals(d + dd, b + db, 0.0)));
        for p in [weak.p_ooc, weak.p_miss, weak.confidence, strong.p_ooc, strong.p_miss, strong.confidence] {
            prop_assert!((0.0..=1.0).contains(&p));
        }
        prop_assert!(strong.confidence >= weak.confidence && strong.p_miss <= weak.p_miss);
    }
}
