//! Keeping text within a caller's token budget.

use crate::sources::Hit;

/// Characters a token has on average in English prose. Callers use different tokenisers; this
/// estimate is close enough for all of them and needs none.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Cuts `hits` so that their texts come to at most `max_tokens` (estimated at four characters a
/// token); says whether anything was cut. The first hit always stays, shortened if it must be.
pub(super) fn trim(hits: &mut Vec<Hit>, max_tokens: usize) -> bool {
    let mut left = max_tokens.saturating_mul(CHARACTERS_PER_TOKEN);
    let mut keep = 0;
    let mut cut = false;
    for hit in hits.iter_mut() {
        let length = hit.text.chars().count();
        if length > left {
            if keep == 0 {
                hit.text = hit.text.chars().take(left).collect();
                keep = 1;
            }
            cut = true;
            break;
        }
        left -= length;
        keep += 1;
    }
    hits.truncate(keep);
    cut
}
