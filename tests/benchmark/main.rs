//! The benchmark that guards retrieval and the gate: figures on committed data must not fall
//! below their floors. The floors lie where the 95 % intervals of the figures at the time of
//! writing ended, so that chance does not break them and a real loss does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::{path::Path, process::Command};

use serde_json::Value;

/// Figure, least value, greatest value.
const BOUNDS: [(&str, f64, f64); 11] = [
    ("/retrieval/lexical/ndcg10", 0.50, 1.0),
    ("/retrieval/dense/ndcg10", 0.76, 1.0),
    ("/retrieval/hybrid/ndcg10", 0.70, 1.0),
    ("/retrieval/hybrid/recall10", 0.85, 1.0),
    ("/gate/false_asks", 0.0, 0.04),
    ("/gate/ooc_far_asked", 0.70, 1.0),
    ("/gate/ooc_near_asked", 0.28, 1.0),
    ("/gate/degraded_failing_asked", 0.62, 1.0),
    ("/gate/auroc_failing", 0.70, 1.0),
    ("/gate/auroc_ooc_near", 0.85, 1.0),
    ("/gate/mix_ask", 0.63, 1.0),
];

fn evaluate(arguments: &[&str]) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/benchmark");
    let output = Command::new(env!("CARGO_BIN_EXE_askback"))
        .current_dir(&folder)
        .args(["--config", "nowhere", "evaluate", "--corpus", ".", "--gate", "gate.jsonl", "--json"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn figures_hold_their_floors_and_are_the_same_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (cache, plots, trace) = (path("cache"), path("plots"), path("trace.jsonl"));
    let report = evaluate(&["--cache", &cache, "--plots", &plots, "--trace", &trace]);
    let mut fallen = Vec::new();
    for (figure, least, most) in BOUNDS {
        let figure_of = |part: &str| {
            report
                .pointer(&format!("{figure}/{part}"))
                .and_then(Value::as_f64)
                .unwrap_or_else(|| panic!("{figure}/{part}"))
        };
        let (value, low, high) = (figure_of("value"), figure_of("low"), figure_of("high"));
        assert!(low <= value && value <= high, "{figure}: {low} {value} {high}");
        if value < least || value > most {
            fallen.push(format!("{figure} is {value:.3}, not from {least} to {most}"));
        }
    }
    assert!(fallen.is_empty(), "{}", fallen.join("\n"));

    for plot in ["reliability.svg", "precision-recall.svg"] {
        assert!(std::fs::read_to_string(Path::new(&plots).join(plot)).unwrap().contains("</svg>"), "{plot}");
    }
    let lines = std::fs::read_to_string(&trace).unwrap();
    let queries =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/benchmark/gate.jsonl"));
    assert_eq!(lines.lines().count(), queries.unwrap().lines().count());

    // From what is kept as from nothing, to the digit.
    assert_eq!(evaluate(&["--cache", &cache]), report);
}
