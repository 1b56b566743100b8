//! From text to index terms: the same way for passages and for queries.

use serde::{Deserialize, Serialize};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language as Stemming, LowerCaser, RemoveLongFilter, Stemmer, StopWordFilter,
    TextAnalyzer, Token, TokenStream, Tokenizer,
};

/// Changes whenever the same text comes to other terms, or to another lexical index of them.
pub const VERSION: &str = "a4";

/// Longest term, in bytes. What is longer is noise, and tantivy's limit is not much above.
const MAX_TERM: usize = 128;

/// English words that carry no content in a question: the Lucene list, and how questions begin. Longer
/// lists cost short questions more than they gain long ones (CLINC150 against CISI).
const ENGLISH: &str = "a am an and are as at be been being but by can could did do does for from give had has have having he her \
his how i if in into is it its ll may me might must my no not of on or our please s she should show so such \
t tell than that the their then there these they this to too us ve very want was we were what when where \
which who whom whose why will with would you your";

/// A language texts are analysed in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Language {
    Arabic,
    /// Neither stemming nor stop words; every character is a word.
    Chinese,
    Danish,
    Dutch,
    #[default]
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    /// As Chinese.
    Japanese,
    /// Neither stemming nor stop words: for mixed languages, codes and names.
    None,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Turkish,
}

impl Language {
    fn stemming(self) -> Option<Stemming> {
        Some(match self {
            Self::Arabic => Stemming::Arabic,
            Self::Danish => Stemming::Danish,
            Self::Dutch => Stemming::Dutch,
            Self::English => Stemming::English,
            Self::Finnish => Stemming::Finnish,
            Self::French => Stemming::French,
            Self::German => Stemming::German,
            Self::Greek => Stemming::Greek,
            Self::Hungarian => Stemming::Hungarian,
            Self::Italian => Stemming::Italian,
            Self::Chinese | Self::Japanese | Self::None => return None,
            Self::Norwegian => Stemming::Norwegian,
            Self::Portuguese => Stemming::Portuguese,
            Self::Romanian => Stemming::Romanian,
            Self::Russian => Stemming::Russian,
            Self::Spanish => Stemming::Spanish,
            Self::Swedish => Stemming::Swedish,
            Self::Turkish => Stemming::Turkish,
        })
    }

    /// ISO 639-1; English for [`Language::None`], whose everyday queries are as good as any.
    pub fn code(self) -> &'static str {
        match self {
            Self::Arabic => "ar",
            Self::Chinese => "zh",
            Self::Danish => "da",
            Self::Dutch => "nl",
            Self::English | Self::None => "en",
            Self::Finnish => "fi",
            Self::French => "fr",
            Self::German => "de",
            Self::Greek => "el",
            Self::Hungarian => "hu",
            Self::Italian => "it",
            Self::Japanese => "ja",
            Self::Norwegian => "no",
            Self::Portuguese => "pt",
            Self::Romanian => "ro",
            Self::Russian => "ru",
            Self::Spanish => "es",
            Self::Swedish => "sv",
            Self::Turkish => "tr",
        }
    }

    /// The language of `text`, if it is long enough to tell and one of these.
    pub fn detect(text: &str) -> Option<Self> {
        use whatlang::Lang;

        let info = whatlang::detect(text).filter(whatlang::Info::is_reliable)?;
        Some(match info.lang() {
            Lang::Ara => Self::Arabic,
            Lang::Cmn => Self::Chinese,
            Lang::Dan => Self::Danish,
            Lang::Nld => Self::Dutch,
            Lang::Eng => Self::English,
            Lang::Fin => Self::Finnish,
            Lang::Fra => Self::French,
            Lang::Deu => Self::German,
            Lang::Ell => Self::Greek,
            Lang::Hun => Self::Hungarian,
            Lang::Ita => Self::Italian,
            Lang::Jpn => Self::Japanese,
            Lang::Nob => Self::Norwegian,
            Lang::Por => Self::Portuguese,
            Lang::Ron => Self::Romanian,
            Lang::Rus => Self::Russian,
            Lang::Spa => Self::Spanish,
            Lang::Swe => Self::Swedish,
            Lang::Tur => Self::Turkish,
            _ => return None,
        })
    }

    /// Its name in the configuration.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.as_ref().and_then(|name| name.as_str()).unwrap_or("none").to_owned()
    }

    fn stop_words(self) -> Option<StopWordFilter> {
        match self {
            Self::English => Some(StopWordFilter::remove(ENGLISH.split_whitespace().map(str::to_owned))),
            other => StopWordFilter::new(other.stemming()?),
        }
    }
}

/// A distinct term of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As indexed.
    pub text: String,
    /// As first written.
    pub surface: String,
    /// How often it occurs in the text.
    pub count: u32,
}

/// The analyser of one language, as tantivy uses it.
pub fn analyzer(language: Language) -> TextAnalyzer {
    let mut builder = TextAnalyzer::builder(Words::default())
        .filter(RemoveLongFilter::limit(MAX_TERM))
        .filter(LowerCaser)
        .dynamic();
    // Stop words carry their accents, stems do not need them.
    if let Some(stop_words) = language.stop_words() {
        builder = builder.filter_dynamic(stop_words);
    }
    if let Some(stemming) = language.stemming() {
        builder = builder.filter_dynamic(Stemmer::new(stemming));
    }
    builder.filter_dynamic(AsciiFoldingFilter).build()
}

/// The distinct terms of `text`, in order, at most `limit`.
pub fn terms(analyzer: &TextAnalyzer, text: &str, limit: usize) -> Vec<Term> {
    let mut analyzer = analyzer.clone();
    let mut stream = analyzer.token_stream(text);
    let mut terms: Vec<Term> = Vec::new();
    while terms.len() < limit && stream.advance() {
        let token = stream.token();
        if let Some(term) = terms.iter_mut().find(|term| term.text == token.text) {
            term.count = term.count.saturating_add(1);
            continue;
        }
        let surface = text.get(token.offset_from..token.offset_to).unwrap_or(&token.text).to_owned();
        terms.push(Term { text: token.text.clone(), surface, count: 1 });
    }
    terms
}

/// Splits at everything that is neither letter nor digit. Characters of scripts written without
/// spaces become words of their own: a run of them would otherwise be one word nobody looks for.
#[derive(Clone, Default)]
struct Words {
    token: Token,
}

struct WordStream<'a> {
    text: &'a str,
    at: usize,
    token: &'a mut Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, at: 0, token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        self.token.text.clear();
        self.token.position = self.token.position.wrapping_add(1);
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(start) = rest.find(char::is_alphanumeric) else { return false };
        let word = rest.get(start..).unwrap_or_default();
        let length = match word.chars().next() {
            Some(first) if is_unspaced(first) => first.len_utf8(),
            _ => word.find(|c| !belongs(c)).unwrap_or(word.len()),
        };
        self.token.offset_from = self.at + start;
        self.token.offset_to = self.token.offset_from + length;
        self.token.text.extend(word.get(..length).unwrap_or_default().chars().filter(|c| !is_accent(*c)));
        self.at = self.token.offset_to;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Whether a character continues a word.
fn belongs(c: char) -> bool {
    (c.is_alphanumeric() && !is_unspaced(c)) || is_accent(c)
}

/// Accents written as characters of their own, as some systems do. They are dropped: folding does
/// the same to letters that carry theirs.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036f}')
}

/// Han, kana, Thai, Lao, Khmer and Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{0e00}'..='\u{0eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(language: Language, text: &str) -> Vec<String> {
        terms(&analyzer(language), text, 64).into_iter().map(|term| term.text).collect()
    }

    #[test]
    fn english_is_stemmed_without_stop_words() {
        assert_eq!(texts(Language::English, "How do I rotate the rotating KEYS?"), ["rotat", "key"]);
    }

    #[test]
    fn languages_are_told_apart_where_there_is_enough_to_tell() {
        let german =
            "Die Anmeldung des Wohnsitzes erfolgt innerhalb von zwei Wochen nach dem Einzug im Bürgeramt.";
        let japanese = "転入届は、引っ越してから十四日以内に市役所の窓口に出してください。";
        assert_eq!(Language::detect(german), Some(Language::German));
        assert_eq!(Language::detect(japanese), Some(Language::Japanese));
        assert_eq!(Language::detect("404"), None);
        assert_eq!(Language::Chinese.name(), "chinese");
    }

    #[test]
    fn accents_fold_and_surfaces_stay() {
        let found = terms(&analyzer(Language::None), "Café CAFE naïve", 64);
        assert_eq!(
            found.iter().map(|t| (t.text.as_str(), t.surface.as_str())).collect::<Vec<_>>(),
            [("cafe", "Café"), ("naive", "naïve")]
        );
    }

    #[test]
    fn accents_on_their_own_do_not_split_words() {
        assert_eq!(texts(Language::None, "nai\u{0308}ve cafe\u{0301}"), ["naive", "cafe"]);
    }

    #[test]
    fn scripts_without_spaces_split_by_character() {
        assert_eq!(texts(Language::English, "重启server服务"), ["重", "启", "server", "服", "务"]);
    }

    #[test]
    fn terms_are_limited() {
        let text = (0..500).map(|n| format!("w{n} ")).collect::<String>();
        assert_eq!(terms(&analyzer(Language::English), &text, 64).len(), 64);
        assert!(terms(&analyzer(Language::English), &"x".repeat(1 << 20), 64).is_empty());
    }
}
