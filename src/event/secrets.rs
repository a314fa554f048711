//! The secrets that are known by the letters that they begin with.
//!
//! Sources, by their marks in the tables:
//!
//! - G: the rules of gitleaks, <https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml>
//! - T: the detectors of TruffleHog, <https://github.com/trufflesecurity/trufflehog/tree/main/pkg/detectors>
//! - H: <https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns>
//! - D: the keywords of detect-secrets, <https://github.com/Yelp/detect-secrets>
//! - P: what the provider's own pages and its SDK call it
//! - R: an RFC: 6749 and 6750 (OAuth), 6265 (cookies), 9110 (credentials in heads)

use crate::cut::Cut as _;

/// A kind of secret that its first letters tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecretShape {
    /// Its kind and its owner, in words.
    #[cfg_attr(not(feature = "cli"), expect(dead_code))]
    pub(crate) name: &'static str,
    /// Its first letters.
    pub(crate) prefix: &'static str,
    /// The shortest rest that it has, in bytes.
    pub(crate) shortest: usize,
    /// What the rest is made of.
    pub(crate) letters: Letters,
    /// True if words begin so too: a shorter rest is none, and none begins inside a word.
    pub(crate) is_word: bool,
}

/// What keys are made of, beside letters and digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Letters {
    /// Nothing.
    Plain,
    /// `-` and `_`.
    Url,
    /// These and dots.
    Dots,
    /// Those of base64: `+`, `/` and `=`, and what stands for them in URLs.
    Base64,
}

use Letters::{Base64, Dots, Plain, Url};

impl Letters {
    /// True if a key is made of this byte.
    pub(crate) fn has(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Plain => false,
                Url => b"-_".contains(&byte),
                Dots => b"-_.".contains(&byte),
                Base64 => b"-_+/=".contains(&byte),
            }
    }
}

/// Returns shapes: of a key, or of one that begins as words do, the shortest rest, what it is made of,
/// whose it is, and the beginnings. Most rests are 8 bytes long, or 18 where names of models begin so.
macro_rules! shapes {
    ($($how:ident $shortest:literal $letters:ident $name:literal: $($prefix:literal)+;)+) => {
        &[$($(SecretShape {
            name: $name,
            prefix: $prefix,
            shortest: $shortest,
            letters: $letters,
            is_word: matches!(stringify!($how).as_bytes(), b"word"),
        },)+)+]
    };
}

/// Every shape. Of several that fit, the one with the longest prefix counts.
pub(crate) const SHAPES: &[SecretShape] = shapes! {
    // Those who serve models.
    key 18 Plain "a key of OpenAI or its like": "sk-"; // G, P
    word 40 Url "a key of OpenAI or its like": "sk-"; // P
    key 8 Url "a key of OpenAI": "sk-proj-" "sk-svcacct-" "sk-admin-"; // G
    word 24 Plain "a key of OpenAI": "ek_"; // P
    key 8 Url "a key of Anthropic": "sk-ant-"; // G
    key 8 Url "a key of OpenRouter": "sk-or-v1-"; // H
    key 8 Url "a key of Langfuse": "sk-lf-" "pk-lf-"; // T
    key 8 Url "a key of Google": "AIza" "AQ.Ab8RN6"; // G, H
    key 8 Dots "a token of Google": "ya29."; // T
    key 8 Url "a client secret of Google": "GOCSPX-"; // H
    word 12 Plain "a key of AWS": "AKIA" "ASIA" "ABIA" "ACCA"; // G
    word 40 Base64 "a key of Amazon Bedrock": "ABSK"; // G
    key 8 Base64 "a key of Amazon Bedrock": "bedrock-api-key-"; // G
    word 12 Plain "a key of Alibaba Cloud": "LTAI"; // G
    key 18 Plain "a token of Hugging Face": "hf_"; // G
    word 16 Plain "a token of Hugging Face": "api_org_"; // G
    key 18 Plain "a key of Groq": "gsk_"; // T
    key 18 Plain "a key of xAI": "xai-"; // H
    key 18 Plain "a key of Perplexity": "pplx-"; // G
    key 18 Plain "a key of Replicate": "r8_"; // H
    word 16 Plain "a key of Fireworks": "fw_"; // H
    key 8 Url "a key of Together": "tgp_v1_"; // H
    key 18 Plain "a key of Cerebras": "csk-"; // H
    key 18 Url "a key of NVIDIA": "nvapi-"; // T
    word 24 Url "a key of Databricks": "dapi"; // G
    word 32 Url "a key of Voyage": "pa-"; // P
    word 20 Plain "a key of Jina": "jina_"; // P
    word 32 Plain "a key of ElevenLabs": "sk_"; // T
    key 18 Plain "a key of Vercel": "vck_"; // P
    key 8 Url "a key of Pinecone": "pcsk_"; // H
    // What agents and their tools use.
    key 8 Url "a token of GitHub": "ghp_" "gho_" "ghu_" "ghs_" "ghr_" "github_pat_"; // G
    key 8 Dots "a token of GitLab": "glpat-" "glrt-"; // G
    key 8 Url "a token of GitLab": "gldt-" "glptt-" "glcbt-" "gloas-" "glsoat-" "glagent-"; // G
    key 8 Url "a token of Slack": "xoxb-" "xoxp-" "xoxa-" "xoxr-" "xoxs-" "xoxo-" "xoxe-"
        "xoxe.xox" "xapp-"; // G
    key 8 Base64 "a webhook of Slack": "hooks.slack.com/services/"
        "hooks.slack.com/workflows/" "hooks.slack.com/triggers/"; // G
    key 8 Base64 "a webhook of Discord": "discord.com/api/webhooks/"; // T
    key 8 Url "a key of Stripe": "sk_live_" "sk_test_" "rk_live_" "rk_test_"; // G
    key 8 Base64 "a secret of Stripe": "whsec_"; // H
    word 40 Dots "a key of SendGrid": "SG."; // G
    word 30 Plain "a token of npm": "npm_"; // G
    word 30 Url "a token of PyPI": "pypi-"; // G
    word 30 Plain "a token of RubyGems": "rubygems_"; // G
    key 8 Url "a token of Docker": "dckr_pat_" "dckr_oat_"; // H
    key 8 Url "a token of DigitalOcean": "dop_v1_" "doo_v1_" "dor_v1_"; // G
    key 8 Url "a token of Shopify": "shpat_" "shpca_" "shppa_"; // G
    key 8 Url "a secret of Shopify": "shpss_"; // G
    key 8 Url "a key of Tavily": "tvly-"; // H
    key 8 Url "a key of LangSmith": "lsv2_pt_" "lsv2_sk_"; // H
    word 20 Plain "a token of Notion": "ntn_"; // G
    word 40 Plain "a token of Notion": "secret_"; // T
    key 8 Url "a key of Linear": "lin_api_"; // G
    word 20 Url "a token of Vault": "hvs." "hvb."; // G
    key 8 Url "a token of Supabase": "sbp_"; // H
    word 16 Url "a secret of Supabase": "sb_secret_"; // H
    word 20 Url "a token of Grafana": "glsa_"; // G
    word 30 Base64 "a token of Grafana": "glc_"; // G
    word 20 Base64 "a token of Sentry": "sntrys_"; // G
    word 20 Plain "a token of Sentry": "sntryu_"; // G
    key 8 Dots "a token of PlanetScale": "pscale_tkn_" "pscale_oauth_"; // G
    key 8 Dots "a password of PlanetScale": "pscale_pw_"; // G
    key 8 Url "a key of Postman": "PMAK-"; // G
    word 20 Url "a token of Figma": "figd_"; // T
    key 8 Base64 "a token of Atlassian": "ATATT3x"; // G
    word 16 Plain "a key of E2B": "e2b_"; // H
    word 32 Plain "a key of Firecrawl": "fc-"; // T
    word 20 Url "a key of PostHog": "phx_"; // H
    word 30 Plain "a key of Prefect": "pnu_"; // G
    word 30 Plain "a token of Pulumi": "pul-"; // G
    word 30 Plain "a token of Doppler": "dp.pt."; // G
    word 20 Dots "a token of Dynatrace": "dt0c01."; // G
    word 30 Url "a token of Fly": "fo1_"; // G
    word 30 Base64 "a token of Fly": "fm2_"; // G
    word 30 Url "a key of Sendinblue": "xkeysib-"; // G
    word 30 Base64 "a token of 1Password": "ops_eyJ"; // G
    word 30 Plain "a key of age": "AGE-SECRET-KEY-1"; // G
    // Whose the answer is.
    word 16 Plain "an organisation of OpenAI": "org-"; // P
    word 16 Plain "a project of OpenAI": "proj_"; // P
    word 16 Plain "a user of OpenAI": "user-"; // P
    word 20 Plain "a user of Clerk": "user_"; // P
    word 20 Plain "an organisation of Clerk": "org_"; // P
    word 16 Plain "a workspace of Anthropic": "wrkspc_"; // P
    word 14 Plain "an account of Stripe": "acct_"; // P
};

impl SecretShape {
    /// Returns the length of what follows the prefix in a text, if that is long enough.
    pub(crate) fn rest(&self, text: &[u8]) -> Option<usize> {
        let rest = text.strip_prefix(self.prefix.as_bytes())?;
        let run = |letters: Letters| rest.iter().take_while(|&&byte| letters.has(byte)).count();
        let own = run(self.letters);
        if own < self.shortest {
            return None;
        }
        // All of the word goes, and no full stop after it.
        let all = rest.before(own.max(run(Url)));
        let length = all.iter().rposition(|&byte| byte != b'.').map_or(0, |at| at + 1);
        (length >= self.shortest).then_some(length)
    }
}
