//! Types that are a closed list of words.

use std::fmt;

/// Makes an enum, its words and what they mean out of one row a variant. The
/// documentation of a variant is one sentence, which the schema and the manual
/// repeat.
macro_rules! words {
    (
        $(#[$about:meta])+
        $vis:vis enum $type:ident {
            $($(#[doc = $meaning:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        $vis enum $type {
            $($(#[doc = $meaning])+ $variant,)+
        }

        impl $type {
            /// Every variant, in the order of declaration.
            $vis const ALL: &[$type] = &[$($type::$variant,)+];

            /// The word that is printed.
            $vis const fn name(self) -> &'static str {
                match self { $($type::$variant => $word,)+ }
            }

            /// The meaning of the word, in one sentence.
            $vis const fn meaning(self) -> &'static str {
                match self { $($type::$variant => concat!($($meaning),+).trim_ascii(),)+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::event::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                let found = $type::ALL.iter().copied().find(|one| one.name() == word);
                found.ok_or_else(|| $crate::event::words::UnknownWord(word.to_owned()))
            }
        }

        impl $crate::event::words::ClosedWords for $type {
            fn all() -> impl Iterator<Item = &'static str> {
                $type::ALL.iter().map(|word| word.name())
            }

            fn word(self) -> &'static str {
                self.name()
            }

            fn from_word(word: &str) -> Option<Self> {
                word.parse().ok()
            }
        }
    };
}

pub(crate) use words;

/// A word that a list does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord(pub(crate) String);

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the word {:?} is not known", self.0)
    }
}

impl std::error::Error for UnknownWord {}

/// A type that is a closed list of words.
pub(crate) trait ClosedWords: Copy {
    /// Every word of the list.
    fn all() -> impl Iterator<Item = &'static str>;
    /// The word that is printed.
    fn word(self) -> &'static str;
    /// The variant of a word.
    fn from_word(word: &str) -> Option<Self>;
}
