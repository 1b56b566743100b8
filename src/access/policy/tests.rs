//! Every combination of what the decisions depend on, against tables written by hand: each row names
//! the combinations it is about, what is decided for them, and how many they are.

use super::{AccessLevel::*, Lifecycle::*, *};
use crate::store::state::Access;

/// What lets the caller in, leaving grants aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// The source is public.
    Public,
    /// It is restricted, and the caller is in one of its groups.
    Member,
    /// It is restricted, and the caller is in none of them.
    Stranger,
}

/// How the source takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writes {
    /// Not at all.
    Closed,
    /// In every mode, from every reader.
    Open,
    /// In the mode `append`, from every reader.
    AppendOnly,
    /// In every mode, from a group that the caller is in.
    Ours,
    /// In every mode, from a group that the caller is not in.
    Theirs,
}

/// One combination.
#[derive(Debug, Clone, Copy)]
struct Case {
    status: Lifecycle,
    door: Door,
    requestable: bool,
    writes: Writes,
    list: bool,
    read: bool,
    write: bool,
    held: Held,
}

/// Statuses × doors × requestable × writes × sets of scopes × grants.
const CASES: usize = 4 * 3 * 2 * 5 * 8 * 3;

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for status in [Draft, Curated, Published, Retired] {
        for door in [Door::Public, Door::Member, Door::Stranger] {
            for requestable in [false, true] {
                for writes in [Writes::Closed, Writes::Open, Writes::AppendOnly, Writes::Ours, Writes::Theirs]
                {
                    for scopes in 0..8 {
                        for held in [Held::Nothing, Held::Read, Held::Write] {
                            let (list, read, write) = (scopes & 1 != 0, scopes & 2 != 0, scopes & 4 != 0);
                            let case = Case { status, door, requestable, writes, list, read, write, held };
                            cases.push(case);
                        }
                    }
                }
            }
        }
    }
    cases
}

fn set<T: Ord, const N: usize>(members: [T; N]) -> BTreeSet<T> {
    BTreeSet::from(members)
}

impl Case {
    /// Not open to the caller, by anything.
    fn outside(&self) -> bool {
        self.door == Door::Stranger && self.held == Held::Nothing
    }

    fn policy(&self) -> Policy {
        let groups = match self.writes {
            Writes::Ours => set(["writers".to_owned()]),
            Writes::Theirs => set(["others".to_owned()]),
            Writes::Closed | Writes::Open | Writes::AppendOnly => set([]),
        };
        let modes = match self.writes {
            Writes::AppendOnly => vec![WriteMode::Append],
            _ => WriteMode::ALL.to_vec(),
        };
        let (visibility, allowed_groups) = match self.door {
            Door::Public => (Visibility::Public, set([])),
            Door::Member => (Visibility::Restricted, set(["staff".to_owned()])),
            Door::Stranger => (Visibility::Restricted, set(["board".to_owned()])),
        };
        Policy {
            status: self.status,
            visibility,
            allowed_groups,
            requestable: self.requestable,
            write: WritePolicy { allowed: self.writes != Writes::Closed, modes, groups },
        }
    }

    fn caller(&self) -> Caller {
        let scopes = [(self.list, Scope::List), (self.read, Scope::Read), (self.write, Scope::Write)];
        Caller {
            groups: set(["staff".to_owned(), "writers".to_owned()]),
            scopes: scopes.into_iter().filter(|(has, _)| *has).map(|(_, scope)| scope).collect(),
            ..Caller::anonymous()
        }
    }
}

/// A row: what it is about, which combinations that are, what is decided, how many there are. The
/// first row that fits is the one that counts.
type Row<T> = (&'static str, fn(&Case) -> bool, T, usize);

fn table<T: PartialEq + std::fmt::Debug>(decide: impl Fn(&Standing<'_>) -> T, rows: &[Row<T>]) {
    let mut counts = vec![0; rows.len()];
    let cases = cases();
    assert_eq!(cases.len(), CASES);
    assert_eq!(CASES, 2880);
    for case in &cases {
        let n = rows.iter().position(|row| row.1(case)).unwrap_or_else(|| panic!("no row for {case:?}"));
        counts[n] += 1;
        let (policy, caller) = (case.policy(), case.caller());
        let decided = decide(&Standing { policy: &policy, caller: &caller, held: case.held });
        assert_eq!(decided, rows[n].2, "{}: {case:?}", rows[n].0);
    }
    for (row, count) in rows.iter().zip(&counts) {
        assert_eq!(*count, row.3, "combinations of the row: {}", row.0);
    }
    assert_eq!(rows.iter().map(|row| row.3).sum::<usize>(), CASES);
}

const ASK: Refusal = Refusal::Denied { requestable: true };
const NO: Refusal = Refusal::Denied { requestable: false };

#[test]
fn who_knows_of_a_source() {
    table(
        |standing| standing.sees(),
        &[
            ("a draft is nobody's", |c| c.status == Draft, false, 720),
            ("public", |c| c.door == Door::Public, true, 720),
            ("by group", |c| c.door == Door::Member, true, 720),
            ("by a grant", |c| c.held != Held::Nothing, true, 480),
            ("to ask for it", |c| c.requestable, true, 120),
            ("nobody else", |_| true, false, 120),
        ],
    );
}

#[test]
fn who_may_read() {
    table(
        |standing| standing.read(),
        &[
            ("a draft", |c| c.status == Draft, Err(Refusal::Hidden), 720),
            ("not to be known of", |c| c.outside() && !c.requestable, Err(Refusal::Hidden), 120),
            ("not yet", |c| c.status == Curated, Err(Refusal::NotPublished), 680),
            ("no longer", |c| c.status == Retired, Err(Refusal::Retired), 680),
            ("no scope", |c| !c.read, Err(Refusal::Scope(Scope::Read)), 340),
            ("has to ask", Case::outside, Err(ASK), 20),
            ("open", |_| true, Ok(()), 320),
        ],
    );
}

#[test]
fn who_may_write_in_the_one_mode_all_writable_sources_take() {
    table(
        |standing| standing.write(WriteMode::Append),
        &[
            ("a draft", |c| c.status == Draft, Err(Refusal::Hidden), 720),
            ("not to be known of", |c| c.outside() && !c.requestable, Err(Refusal::Hidden), 120),
            ("not yet", |c| c.status == Curated, Err(Refusal::NotPublished), 680),
            ("no longer", |c| c.status == Retired, Err(Refusal::Retired), 680),
            ("takes no writes", |c| c.writes == Writes::Closed, Err(Refusal::WritesNotAllowed), 136),
            ("no scope", |c| !c.write, Err(Refusal::Scope(Scope::Write)), 272),
            ("granted", |c| c.held == Held::Write, Ok(()), 96),
            ("no reader, even if in the group", Case::outside, Err(ASK), 16),
            ("not in the group, may ask", |c| c.writes == Writes::Theirs && c.requestable, Err(ASK), 20),
            ("not in the group", |c| c.writes == Writes::Theirs, Err(NO), 20),
            ("a reader", |_| true, Ok(()), 120),
        ],
    );
}

#[test]
fn who_may_write_in_a_mode_that_some_sources_do_not_take() {
    for mode in [WriteMode::Upsert, WriteMode::Annotate] {
        table(
            |standing| standing.write(mode),
            &[
                ("a draft", |c| c.status == Draft, Err(Refusal::Hidden), 720),
                ("not to be known of", |c| c.outside() && !c.requestable, Err(Refusal::Hidden), 120),
                ("not yet", |c| c.status == Curated, Err(Refusal::NotPublished), 680),
                ("no longer", |c| c.status == Retired, Err(Refusal::Retired), 680),
                ("takes no writes", |c| c.writes == Writes::Closed, Err(Refusal::WritesNotAllowed), 136),
                ("no scope", |c| !c.write, Err(Refusal::Scope(Scope::Write)), 272),
                ("not in this mode", |c| c.writes == Writes::AppendOnly, Err(Refusal::ModeNotAllowed), 68),
                ("granted", |c| c.held == Held::Write, Ok(()), 72),
                ("no reader, even if in the group", Case::outside, Err(ASK), 12),
                ("not in the group, may ask", |c| c.writes == Writes::Theirs && c.requestable, Err(ASK), 20),
                ("not in the group", |c| c.writes == Writes::Theirs, Err(NO), 20),
                ("a reader", |_| true, Ok(()), 80),
            ],
        );
    }
}

#[test]
fn who_may_ask_for_reading() {
    table(
        |standing| standing.request(Access::Read),
        &[
            ("a draft", |c| c.status == Draft, Err(Refusal::Hidden), 720),
            ("not to be known of", |c| c.outside() && !c.requestable, Err(Refusal::Hidden), 120),
            ("not yet", |c| c.status == Curated, Err(Refusal::NotPublished), 680),
            ("no longer", |c| c.status == Retired, Err(Refusal::Retired), 680),
            // Who knows of a published source can read it or may ask: scopes are not the owner's to give.
            ("everybody else", |_| true, Ok(()), 680),
        ],
    );
}

#[test]
fn who_may_ask_for_writing() {
    table(
        |standing| standing.request(Access::Write),
        &[
            ("a draft", |c| c.status == Draft, Err(Refusal::Hidden), 720),
            ("not to be known of", |c| c.outside() && !c.requestable, Err(Refusal::Hidden), 120),
            ("not yet", |c| c.status == Curated, Err(Refusal::NotPublished), 680),
            ("no longer", |c| c.status == Retired, Err(Refusal::Retired), 680),
            ("takes no writes", |c| c.writes == Writes::Closed, Err(Refusal::WritesNotAllowed), 136),
            ("takes requests", |c| c.requestable, Ok(()), 288),
            ("has it already", |c| c.held == Held::Write, Ok(()), 96),
            ("not in the group", |c| c.writes == Writes::Theirs, Err(NO), 40),
            ("a reader has it already", |_| true, Ok(()), 120),
        ],
    );
}

#[test]
fn what_a_caller_has_whatever_its_credentials_are_good_for() {
    table(
        |standing| standing.has(Access::Read),
        &[("outside", Case::outside, false, 320), ("inside", |_| true, true, 2560)],
    );
    table(
        |standing| standing.has(Access::Write),
        &[
            ("takes no writes", |c| c.writes == Writes::Closed, false, 576),
            ("granted", |c| c.held == Held::Write, true, 768),
            ("outside", Case::outside, false, 256),
            ("not in the group", |c| c.writes == Writes::Theirs, false, 320),
            ("a reader", |_| true, true, 960),
        ],
    );
}

#[test]
fn the_most_a_caller_may_do() {
    table(
        |standing| standing.level(),
        &[
            ("does not answer", |c| c.status != Published, None, 2160),
            ("not to be known of", |c| c.outside() && !c.requestable, None, 40),
            ("credentials for neither", |c| !c.read && !c.write, None, 170),
            (
                "credentials only for what it does not take",
                |c| !c.read && c.writes == Writes::Closed,
                None,
                34,
            ),
            ("has to ask for everything", Case::outside, Requestable, 28),
            (
                "writes by grant",
                |c| c.write && c.writes != Writes::Closed && c.held == Held::Write,
                Write,
                96,
            ),
            (
                "writes as a reader",
                |c| c.write && !matches!(c.writes, Writes::Closed | Writes::Theirs),
                Write,
                120,
            ),
            ("reads", |c| c.read, Read, 212),
            ("writing is for others, may ask", |c| c.requestable, Requestable, 10),
            ("writing is for others", |_| true, None, 10),
        ],
    );
}

/// A write that fails every gate meets them in the order of the design: status, whether writes are
/// allowed, scope, mode, groups.
#[test]
fn the_gates_stand_in_order() {
    let mut caller = Caller { scopes: BTreeSet::new(), ..Caller::anonymous() };
    let mut policy = Policy {
        status: Draft,
        visibility: Visibility::Restricted,
        allowed_groups: set(["staff".to_owned()]),
        requestable: false,
        write: WritePolicy {
            allowed: false,
            modes: vec![WriteMode::Append],
            groups: set(["writers".to_owned()]),
        },
    };
    let write = |policy: &Policy, caller: &Caller| {
        Standing { policy, caller, held: Held::Nothing }.write(WriteMode::Upsert)
    };
    assert_eq!(write(&policy, &caller), Err(Refusal::Hidden));
    policy.requestable = true;
    assert_eq!(write(&policy, &caller), Err(Refusal::Hidden));
    policy.status = Curated;
    assert_eq!(write(&policy, &caller), Err(Refusal::NotPublished));
    policy.status = Retired;
    assert_eq!(write(&policy, &caller), Err(Refusal::Retired));
    policy.status = Published;
    assert_eq!(write(&policy, &caller), Err(Refusal::WritesNotAllowed));
    policy.write.allowed = true;
    assert_eq!(write(&policy, &caller), Err(Refusal::Scope(Scope::Write)));
    caller.scopes.insert(Scope::Write);
    assert_eq!(write(&policy, &caller), Err(Refusal::ModeNotAllowed));
    policy.write.modes.push(WriteMode::Upsert);
    assert_eq!(write(&policy, &caller), Err(ASK));
    caller.groups.insert("staff".to_owned());
    assert_eq!(write(&policy, &caller), Err(ASK));
    caller.groups.insert("writers".to_owned());
    assert_eq!(write(&policy, &caller), Ok(()));
}

/// Grants count by source, and the larger of two counts.
#[test]
fn grants_come_to_the_most_they_give_on_the_source() {
    let grant = |source: &str, access| crate::store::state::Grant {
        id: 1,
        subject: "ada".to_owned(),
        source: source.to_owned(),
        access,
        granted_at: String::new(),
        granted_by: String::new(),
        expires_at: Option::None,
        request: Option::None,
    };
    let grants = [grant("a", Access::Write), grant("a", Access::Read), grant("b", Access::Read)];
    assert_eq!(Held::on("a", &grants), Held::Write);
    assert_eq!(Held::on("b", &grants), Held::Read);
    assert_eq!(Held::on("c", &grants), Held::Nothing);
}
