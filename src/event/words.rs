//! Types that are a closed list of words.

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
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

        impl $crate::event::words::ClosedWords for $type {
            fn all() -> impl Iterator<Item = &'static str> {
                $type::ALL.iter().map(|word| word.name())
            }

            fn word(self) -> &'static str {
                self.name()
            }

            fn from_word(word: &str) -> Option<Self> {
                $type::ALL.iter().copied().find(|variant| variant.name() == word)
            }
        }
    };
}

pub(crate) use words;

/// A type that is a closed list of words.
pub(crate) trait ClosedWords: Copy {
    /// Every word of the list.
    fn all() -> impl Iterator<Item = &'static str>;
    /// The word that is printed.
    fn word(self) -> &'static str;
    /// The variant of a word.
    fn from_word(word: &str) -> Option<Self>;
}
