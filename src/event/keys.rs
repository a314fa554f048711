//! The shapes of keys: by what they begin with, whose they are, and how to tell them from words.

/// A kind of secret that its first letters tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Its kind and its owner, in words.
    #[cfg_attr(not(feature = "cli"), expect(dead_code))]
    pub(crate) name: &'static str,
    /// Its first letters.
    pub(crate) prefix: &'static str,
    /// The shortest rest that it has, in bytes.
    pub(crate) shortest: usize,
    /// True if words begin so too: only a rest that looks random makes it a secret.
    pub(crate) is_word: bool,
}

const fn key(name: &'static str, prefix: &'static str, shortest: usize) -> Shape {
    Shape { name, prefix, shortest, is_word: false }
}

const fn word(name: &'static str, prefix: &'static str, shortest: usize) -> Shape {
    Shape { name, prefix, shortest, is_word: true }
}

/// Every shape. Of two that fit, the longer prefix counts.
pub(crate) const SHAPES: &[Shape] = &[
    // Those who serve models.
    key("a key of OpenAI or its like", "sk-", 20),
    key("a key of OpenAI", "sk-proj-", 20),
    key("a key of OpenAI", "sk-svcacct-", 20),
    key("a key of OpenAI", "sk-admin-", 20),
    key("a key of Anthropic", "sk-ant-", 20),
    key("a key of OpenRouter", "sk-or-v1-", 20),
    key("a key of Langfuse", "sk-lf-", 20),
    key("a key of Langfuse", "pk-lf-", 20),
    key("a key of Google", "AIza", 30),
    key("a token of Google", "ya29.", 20),
    key("a client secret of Google", "GOCSPX-", 20),
    key("a key of AWS", "AKIA", 16),
    key("a key of AWS", "ASIA", 16),
    word("a key of Amazon Bedrock", "ABSK", 40),
    word("a key of Alibaba Cloud", "LTAI", 12),
    key("a token of Hugging Face", "hf_", 20),
    word("a token of Hugging Face", "api_org_", 20),
    key("a key of Groq", "gsk_", 20),
    key("a key of xAI", "xai-", 20),
    key("a key of Perplexity", "pplx-", 20),
    key("a key of Replicate", "r8_", 20),
    word("a key of Fireworks", "fw_", 20),
    key("a key of Together", "tgp_v1_", 20),
    key("a key of Cerebras", "csk-", 20),
    key("a key of NVIDIA", "nvapi-", 20),
    word("a key of Databricks", "dapi", 32),
    word("a key of Voyage", "pa-", 32),
    word("a key of Jina", "jina_", 20),
    word("a key of ElevenLabs", "sk_", 32),
    key("a key of Vercel", "vck_", 20),
    key("a key of Pinecone", "pcsk_", 20),
    // What agents and their tools use.
    key("a token of GitHub", "ghp_", 20),
    key("a token of GitHub", "gho_", 20),
    key("a token of GitHub", "ghu_", 20),
    key("a token of GitHub", "ghs_", 20),
    key("a token of GitHub", "ghr_", 20),
    key("a token of GitHub", "github_pat_", 20),
    key("a token of GitLab", "glpat-", 20),
    key("a token of Slack", "xoxb-", 20),
    key("a token of Slack", "xoxp-", 20),
    key("a token of Slack", "xapp-", 20),
    key("a key of Stripe", "sk_live_", 20),
    key("a key of Stripe", "sk_test_", 20),
    key("a key of Stripe", "rk_live_", 20),
    word("a key of SendGrid", "SG.", 40),
    word("a token of npm", "npm_", 30),
    word("a token of PyPI", "pypi-", 30),
    key("a token of DigitalOcean", "dop_v1_", 30),
    key("a token of Shopify", "shpat_", 30),
    key("a key of Tavily", "tvly-", 20),
    key("a key of LangSmith", "lsv2_pt_", 20),
    key("a key of LangSmith", "lsv2_sk_", 20),
    key("a token of Notion", "ntn_", 30),
    key("a key of Linear", "lin_api_", 20),
    word("a token of Vault", "hvs.", 20),
    key("a token of Supabase", "sbp_", 30),
    // Whose the answer is.
    word("an organisation of OpenAI", "org-", 16),
    word("a project of OpenAI", "proj_", 16),
    word("a user of OpenAI", "user-", 16),
    word("a user of Clerk", "user_", 20),
    word("an organisation of Clerk", "org_", 20),
    word("a workspace of Anthropic", "wrkspc_", 16),
    word("an account of Stripe", "acct_", 14),
];

impl Shape {
    /// Returns the shape with the longest prefix that a word has.
    #[cfg(feature = "cli")]
    pub(crate) fn of(word: &str) -> Option<&'static Shape> {
        let fits = SHAPES.iter().filter(|shape| word.starts_with(shape.prefix));
        fits.max_by_key(|shape| shape.prefix.len())
    }

    /// Returns what follows the prefix in a word, if it is long enough and looks random.
    pub(crate) fn secret<'w>(&self, word: &'w str) -> Option<&'w str> {
        let rest = word.strip_prefix(self.prefix)?;
        (rest.len() >= self.shortest && is_random(rest)).then_some(rest)
    }
}

/// True if no one writes a word like this: letters and digits take turns, or capitals stand in a
/// long run of letters.
pub(crate) fn is_random(word: &str) -> bool {
    let kinds = |c: char| (c.is_ascii_digit(), c.is_ascii_alphabetic());
    let pairs = word.chars().zip(word.chars().skip(1)).map(|(a, b)| (kinds(a), kinds(b)));
    let turns =
        pairs.filter(|pair| matches!(pair, ((true, _), (_, true)) | ((_, true), (true, _))));
    let is_mixed = |run: &str| {
        let count = |is: fn(&char) -> bool| run.chars().filter(is).count();
        run.len() >= 20
            && count(char::is_ascii_uppercase) > 3
            && count(char::is_ascii_lowercase) > 3
    };
    turns.count() >= 3 || word.split(|c: char| !c.is_ascii_alphanumeric()).any(is_mixed)
}
