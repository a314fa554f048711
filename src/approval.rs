//! The rules of `--approve`: which calls may run.

use std::str::FromStr;

/// The decision on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalRule {
    /// It runs.
    Auto,
    /// The user is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// The rules of `--approve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    named: Vec<(String, ApprovalRule)>,
    /// The rule of all other tools; without one they are asked about, if there is a terminal.
    other: Option<ApprovalRule>,
}

impl FromStr for ApprovalRule {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "auto" => Ok(ApprovalRule::Auto),
            "ask" => Ok(ApprovalRule::Ask),
            "deny" => Ok(ApprovalRule::Deny),
            _ => Err(format!("`{word}` is none of auto, ask, deny")),
        }
    }
}

impl FromStr for Rules {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rules = Rules::default();
        for part in text.split(',') {
            match part.split_once('=') {
                Some((name, rule)) => rules.named.push((name.to_owned(), rule.parse()?)),
                None => rules.other = Some(part.parse()?),
            }
        }
        Ok(rules)
    }
}

impl Rules {
    /// Returns the names of the tools that have a rule of their own.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the rule for a tool.
    pub(crate) fn of(&self, name: &str) -> ApprovalRule {
        let named = self.named.iter().rfind(|(named, _)| named == name);
        named.map(|(_, rule)| *rule).or(self.other).unwrap_or(ApprovalRule::Ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_in_any_order() {
        let rules: Rules = "a=auto,deny,b=ask".parse().unwrap();
        assert_eq!(
            ["a", "b", "c"].map(|name| rules.of(name)),
            [ApprovalRule::Auto, ApprovalRule::Ask, ApprovalRule::Deny]
        );
        assert_eq!(Rules::default().of("a"), ApprovalRule::Ask);
        for wrong in ["yes", "a=", "", "a=auto,,"] {
            assert!(wrong.parse::<Rules>().is_err(), "{wrong:?}");
        }
    }
}
