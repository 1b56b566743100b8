//! Figures a person can look at, as SVG.

use plotters::{coord::types::RangedCoordf64, prelude::*};

use super::metrics::{precision_recall, reliability};

const SIZE: (u32, u32) = (480, 480);
const INK: RGBColor = RGBColor(31, 78, 121);

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// How probabilities (first) and outcomes (second) agree: ten bins as dots, the larger the more
/// fell into them, over the diagonal that a calibrated probability follows.
///
/// # Errors
/// What the plotting library says.
pub fn reliability_diagram(outcomes: &[(f64, bool)]) -> Result<String, String> {
    let bins = reliability(outcomes);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    unit_square("Reliability of confidence", "confidence", "share answered rightly", |chart| {
        chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], BLACK.mix(0.3)))?;
        chart.draw_series(LineSeries::new(bins.iter().map(|bin| (bin.probability, bin.success)), INK))?;
        chart.draw_series(bins.iter().map(|bin| {
            // The area stands for the number.
            let radius = 3.0 + 9.0 * (bin.count as f64 / most).sqrt();
            Circle::new((bin.probability, bin.success), radius as u32, INK.mix(0.6).filled())
        }))?;
        Ok(())
    })
}

/// What asking costs and brings as its threshold moves: the share of those asked that would have
/// failed, over the share of failures that are asked. `doubts` are lack of confidence and failure.
///
/// # Errors
/// What the plotting library says.
pub fn asking_curve(doubts: &[(f64, bool)]) -> Result<String, String> {
    let points = precision_recall(doubts);
    unit_square(
        "Asking, as the threshold moves",
        "failures asked (recall)",
        "asked that fail (precision)",
        |chart| {
            chart.draw_series(LineSeries::new(
                points.iter().map(|point| (point.recall, point.precision)),
                INK,
            ))?;
            Ok(())
        },
    )
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A square from 0 to 1 both ways, with `draw`'s series in it.
fn unit_square(
    title: &str,
    across: &str,
    up: &str,
    draw: impl FnOnce(&mut Chart<'_, '_>) -> Drawn,
) -> Result<String, String> {
    let mut svg = String::new();
    let drawn = || -> Drawn {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 18))
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(48)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        chart.configure_mesh().x_desc(across).y_desc(up).light_line_style(TRANSPARENT).draw()?;
        draw(&mut chart)?;
        area.present()?;
        Ok(())
    };
    drawn().map_err(|error| format!("drawing “{title}”: {error}"))?;
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_svg_with_their_points() {
        let outcomes = [(0.05, false), (0.15, true), (0.95, true)];
        let svg = reliability_diagram(&outcomes).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 3);
        let svg = asking_curve(&outcomes).unwrap();
        assert!(svg.contains("recall") && svg.contains("<polyline"), "{svg}");
        assert!(asking_curve(&[]).is_ok() && reliability_diagram(&[]).is_ok());
    }
}
