use std::{env, fmt, sync::Arc, time::Duration};

use reqwest::{header::HeaderName, redirect, retry};

use crate::{Error, Result};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);
const DEFAULT_RETRIES_MAX: u32 = 2;
const DEFAULT_HEADER_PREFIX: &str = "Service";
const USER_AGENT: &str = concat!("parley-rust/", env!("CARGO_PKG_VERSION"));

/// The settings of a connection. All surfaces share them, and a clone is cheap.
#[derive(Clone)]
pub struct Client {
    pub(crate) settings: Arc<Settings>,
}

#[derive(Clone)]
pub(crate) struct Settings {
    pub base_url: String,
    pub api_key: String,
    pub user_agent: String,
    pub header_prefix: String,
    pub timeout: Duration,
    pub retries_max: u32,
    pub http: reqwest::Client,
}

impl Client {
    /// Begins a client for a server's address, such as `http://127.0.0.1:8080`.
    pub fn builder(base_url: &str) -> ClientBuilder {
        ClientBuilder {
            base_url: base_url.trim_end_matches('/').to_owned(),
            api_key: env::var("PARLEY_API_KEY").unwrap_or_default(),
            user_agent: USER_AGENT.to_owned(),
            header_prefix: DEFAULT_HEADER_PREFIX.to_owned(),
            timeout: DEFAULT_TIMEOUT,
            retries_max: DEFAULT_RETRIES_MAX,
            http: reqwest::Client::builder(),
        }
    }

    /// Returns a client with another credential, such as the token of a session.
    pub fn with_api_key(&self, api_key: &str) -> Self {
        let settings = Settings { api_key: api_key.to_owned(), ..self.settings.as_ref().clone() };
        Self { settings: Arc::new(settings) }
    }

    /// Puts the server's prefix in the place of "Service".
    pub(crate) fn header_name(&self, name: &str) -> String {
        let lower = name.to_ascii_lowercase();
        let prefix = self.settings.header_prefix.to_ascii_lowercase();
        match (lower.strip_prefix("x-service-"), lower.strip_prefix("service-")) {
            (Some(rest), _) => format!("x-{prefix}-{rest}"),
            (_, Some(rest)) => format!("{prefix}-{rest}"),
            _ => lower,
        }
    }

    /// Puts the server's prefix in the place of "service".
    pub(crate) fn subprotocol(&self, name: &str) -> String {
        match name.strip_prefix("service.") {
            Some(rest) => format!("{}.{rest}", self.settings.header_prefix.to_lowercase()),
            None => name.to_owned(),
        }
    }
}

/// Leaves the key out.
impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("base_url", &self.settings.base_url).finish_non_exhaustive()
    }
}

/// Collects the settings of a [`Client`].
#[must_use]
pub struct ClientBuilder {
    base_url: String,
    api_key: String,
    user_agent: String,
    header_prefix: String,
    timeout: Duration,
    retries_max: u32,
    http: reqwest::ClientBuilder,
}

impl ClientBuilder {
    /// Sets the API key. Without a key, the client takes the environment variable `PARLEY_API_KEY`.
    pub fn api_key(mut self, api_key: impl Into<String>) -> Self {
        self.api_key = api_key.into();
        self
    }

    /// Limits the time until an answer is complete, for each attempt. If the answer is a stream or audio, this limits
    /// the time until the answer begins, and then the time of each read. The default is 5 minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how often a request is sent again after a failure that permits it. The default is 2.
    pub fn retries_max(mut self, retries: u32) -> Self {
        self.retries_max = retries;
        self
    }

    /// Adds the name of a program to the header User-Agent.
    pub fn user_agent(mut self, name: &str) -> Self {
        self.user_agent = format!("{name} {USER_AGENT}");
        self
    }

    /// Sets the word that replaces "Service" in the names of headers and in the subprotocols of sockets, if the server
    /// has one.
    pub fn header_prefix(mut self, prefix: &str) -> Self {
        self.header_prefix = prefix.to_owned();
        self
    }

    /// Sets the HTTP client, for example to use a proxy. A timeout in it would also cut streams, so use
    /// [`ClientBuilder::timeout`] instead.
    pub fn http(mut self, http: reqwest::ClientBuilder) -> Self {
        self.http = http;
        self
    }

    /// Makes the client. It follows no redirects, because a redirect would carry the key to another place.
    pub fn build(self) -> Result<Client> {
        let http = self.http.redirect(redirect::Policy::none()).retry(retry::never()).http1_only();
        let prefix = HeaderName::try_from(&self.header_prefix);
        prefix.map_err(|error| Error::input("the header prefix is not valid", error))?;
        let settings = Settings {
            base_url: self.base_url,
            api_key: self.api_key,
            user_agent: self.user_agent,
            header_prefix: self.header_prefix,
            timeout: self.timeout,
            retries_max: self.retries_max,
            http: http.build().map_err(|error| Error::input("the HTTP client cannot start", error))?,
        };
        Ok(Client { settings: Arc::new(settings) })
    }
}

/// Settings for single calls. `router.with(options)` returns a client of the surface with them.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct CallOptions {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries_max: Option<u32>,
}

impl CallOptions {
    /// Begins without any setting.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends a request with this key. Such a request is never repeated, because the server runs a key at most once.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.header(KEY_HEADER, key)
    }

    /// Adds a header to a request. An Idempotency-Key has the effect of [`CallOptions::idempotency_key`].
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if name.eq_ignore_ascii_case(KEY_HEADER) {
            self.retries_max = Some(0);
        }
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Replaces the client's timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

pub(crate) const KEY_HEADER: &str = "idempotency-key";
