use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    RequestBuilder, Response,
    header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT},
};
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

use crate::{
    CallOptions, Client, Error, Result,
    client::KEY_HEADER,
    error::{ErrorRow, api_error},
    request::{Body, Request},
    retries::pause_before,
};

const ERROR_BYTES_MAX: usize = 1 << 20;
const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 86_400);

/// A contract of a server. Each generated module has a surface, and sends its requests with it.
#[derive(Clone, Debug)]
pub struct Surface {
    pub(crate) client: Client,
    prefix: &'static str,
    pub(crate) rows: fn(&str) -> Option<ErrorRow>,
    pub(crate) options: CallOptions,
}

/// An answer with status 2xx.
pub(crate) struct Answer {
    pub response: Response,
    /// The whole answer must be there at this time, unless it is a stream.
    pub deadline: Instant,
    pub timeout: Duration,
}

impl Surface {
    /// The prefix is the path before the paths of the contract. The rows are what the contract says about an error
    /// code.
    pub fn new(client: &Client, prefix: &'static str, rows: fn(&str) -> Option<ErrorRow>) -> Self {
        Self { client: client.clone(), prefix, rows, options: CallOptions::default() }
    }

    pub fn with(&self, options: CallOptions) -> Self {
        Self { options, ..self.clone() }
    }

    /// Sends a request, and repeats it if the failure permits it.
    pub(crate) async fn send(&self, request: &Request) -> Result<Answer> {
        let retries_max = self.options.retries_max.unwrap_or(self.client.settings.retries_max);
        let mut retry = 0;
        loop {
            let error = match self.attempt(request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let is_last = retry >= retries_max || !request.body.is_repeatable();
            match pause_before(retry, &error, &request.method).filter(|_| !is_last) {
                Some(pause) => sleep(pause).await,
                None => return Err(error),
            }
            retry += 1;
        }
    }

    /// Sends a request once.
    pub(crate) async fn attempt(&self, request: &Request) -> Result<Answer> {
        let timeout = self.options.timeout.unwrap_or(self.client.settings.timeout);
        // `Instant` panics at a sum that it cannot hold, such as with `Duration::MAX`.
        let deadline = Instant::now() + timeout.min(TIMEOUT_MAX);
        let prepared = self.prepare(request).await?;
        let sent = timeout_at(deadline, prepared.send()).await.map_err(|_| Error::Timeout)?;
        let response = sent.map_err(connection_error)?;
        if response.status().is_success() {
            return Ok(Answer { response, deadline, timeout });
        }
        Err(read_error(&self.client, response, deadline, self.rows).await)
    }

    async fn prepare(&self, request: &Request) -> Result<RequestBuilder> {
        let settings = &self.client.settings;
        let address = format!("{}{}{}", settings.base_url, self.prefix, request.target()?);
        let mut prepared = settings.http.request(request.method.clone(), address);
        for (name, value) in self.headers(request) {
            prepared = prepared.header(name, value);
        }
        match &request.body {
            Body::None => Ok(prepared),
            Body::Json(json) => Ok(self.typed(prepared, "application/json").body(json.clone())),
            Body::Form(form) => Ok(prepared.multipart(form.open().await?)),
            Body::Audio(audio) => {
                let (body, length) = audio.open().await?;
                let prepared = self.typed(prepared, "application/octet-stream").body(body);
                Ok(length.into_iter().fold(prepared, |prepared, length| prepared.header(CONTENT_LENGTH, length)))
            }
        }
    }

    /// Adds the type of the body, unless the caller has given one.
    fn typed(&self, prepared: RequestBuilder, kind: &str) -> RequestBuilder {
        let is_given = self.options.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(CONTENT_TYPE.as_str()));
        if is_given { prepared } else { prepared.header(CONTENT_TYPE, kind) }
    }

    fn headers(&self, request: &Request) -> Vec<(String, String)> {
        let settings = &self.client.settings;
        let mut headers = vec![(USER_AGENT.to_string(), settings.user_agent.clone())];
        let given = request.headers.iter().map(|(name, value)| (self.client.header_name(name), value.clone()));
        headers.extend(given);
        if !request.accept.is_empty() {
            headers.push((ACCEPT.to_string(), request.accept.to_owned()));
        }
        if !request.is_public && !settings.api_key.is_empty() {
            headers.push((AUTHORIZATION.to_string(), format!("Bearer {}", settings.api_key)));
        }
        let has_key = self.options.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(KEY_HEADER));
        if request.is_idempotent && !has_key {
            headers.push((KEY_HEADER.to_owned(), Uuid::new_v4().to_string()));
        }
        headers.extend(self.options.headers.iter().cloned());
        headers
    }
}

/// Reads the server's error. If the body does not come, the error has only the status.
pub(crate) async fn read_error(
    client: &Client,
    mut response: Response,
    deadline: Instant,
    rows: fn(&str) -> Option<ErrorRow>,
) -> Error {
    let mut body = Vec::new();
    while let Ok(Ok(Some(piece))) = timeout_at(deadline, response.chunk()).await {
        let rest = ERROR_BYTES_MAX - body.len();
        body.extend_from_slice(&piece[..rest.min(piece.len())]);
        if rest <= piece.len() {
            break;
        }
    }
    let request_id = request_id(client, &response);
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Error::Api(Box::new(api_error(status, headers, Bytes::from(body), request_id, rows)))
}

pub(crate) fn request_id(client: &Client, response: &Response) -> Option<String> {
    let value = response.headers().get(client.header_name("Service-Request-ID"))?;
    value.to_str().ok().map(str::to_owned)
}

pub(crate) fn connection_error(error: reqwest::Error) -> Error {
    if error.is_builder() {
        return Error::input("the request cannot be written", error);
    }
    Error::Connection { is_sent: !error.is_connect(), source: error.without_url().into() }
}
