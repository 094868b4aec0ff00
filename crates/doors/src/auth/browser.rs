//! The browser of a request: its session, and the secret by which its own forms are known.

use http::{HeaderMap, HeaderValue, Response, header};
use identity::{
    secret,
    sessions::{self, Session},
};
use kernel::{Fault, Kind};
use subtle::ConstantTimeEq;

use super::Auth;

/// Names of cookies without their prefix.
const SESSION: &str = "arena_session";
const FORM: &str = "arena_form";
const NEWCOMER: &str = "arena_newcomer";
const SESSION_SECONDS: i64 = sessions::IDLE_MS / 1000;
const FORM_SECONDS: i64 = 24 * 3600;
const NEWCOMER_SECONDS: i64 = 3600;

/// A cookie of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cookie {
    Session,
    /// A secret of the browser, whoever is signed in: forms carry its hash.
    Form,
    /// Who has proven an account elsewhere and has no nickname yet.
    Newcomer,
}

impl Cookie {
    const fn base(self) -> (&'static str, i64) {
        match self {
            Self::Session => (SESSION, SESSION_SECONDS),
            Self::Form => (FORM, FORM_SECONDS),
            Self::Newcomer => (NEWCOMER, NEWCOMER_SECONDS),
        }
    }

    /// Over https the name says that nobody but this host set it. Over http, which only loopback should be,
    /// browsers take neither that name nor `Secure`.
    fn name(self, https: bool) -> String {
        let (base, _) = self.base();
        if https { format!("__Host-{base}") } else { base.to_owned() }
    }

    pub(super) fn of(self, auth: &Auth, headers: &HeaderMap) -> Option<String> {
        let name = self.name(auth.is_https());
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut values = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().strip_prefix(&name)?.strip_prefix('='));
        values.find(|value| secret::is_shaped(value, "")).map(str::to_owned)
    }

    pub(super) fn set<B>(self, auth: &Auth, response: &mut Response<B>, value: &str) {
        let (_, seconds) = self.base();
        self.write(auth, response, value, seconds);
    }

    pub(super) fn clear<B>(self, auth: &Auth, response: &mut Response<B>) {
        self.write(auth, response, "", 0);
    }

    fn write<B>(self, auth: &Auth, response: &mut Response<B>, value: &str, seconds: i64) {
        let secure = if auth.is_https() { "; Secure" } else { "" };
        let name = self.name(auth.is_https());
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
    }
}

/// What is known of the browser of a request.
pub(super) struct Browser {
    /// The session's secret and whose it is.
    pub(super) session: Option<(String, Session)>,
    /// The form secret, drawn when the browser had none.
    form: String,
    form_is_new: bool,
}

impl Browser {
    pub(super) async fn of(auth: &Auth, headers: &HeaderMap) -> Result<Self, Fault> {
        let form = Cookie::Form.of(auth, headers);
        let form_is_new = form.is_none();
        let form = form.unwrap_or_else(|| secret::draw(auth.house.ids.as_ref(), ""));
        let session = match Cookie::Session.of(auth, headers) {
            None => None,
            Some(value) => {
                let looked = value.clone();
                let found = auth.house.store.read(move |tx| sessions::find(tx, &looked)).await?;
                found.map(|session| (value, session))
            }
        };
        if let Some((value, session)) = &session
            && session.is_stale
        {
            let value = value.clone();
            let see = auth.change("identity.see_session", move |tx| sessions::see(tx, &value));
            // That it was seen is a convenience; the page is not refused for it.
            if let Err(fault) = see.await {
                tracing::debug!(context = fault.context().unwrap_or(""), "a session's use was not written");
            }
        }
        Ok(Self { session, form, form_is_new })
    }

    pub(super) fn person(&self) -> Option<&Session> {
        self.session.as_ref().map(|(_, session)| session)
    }

    /// What the browser's own forms carry.
    pub(super) fn token(&self) -> String {
        form_token(&self.form)
    }

    /// By what a sign-in that left through this browser is recognised.
    pub(super) fn mark(&self) -> [u8; 32] {
        secret::hash(&self.form)
    }

    /// Keeps the form secret in the browser.
    pub(super) fn keep<B>(&self, auth: &Auth, response: &mut Response<B>) {
        if self.form_is_new {
            Cookie::Form.set(auth, response, &self.form);
        }
    }

    /// Whether a form was made for this browser by us.
    pub(super) fn owns(&self, token: Option<&str>) -> Result<(), Fault> {
        let own = self.token();
        let same = token.is_some_and(|token| bool::from(token.as_bytes().ct_eq(own.as_bytes())));
        if same && !self.form_is_new {
            return Ok(());
        }
        Err(Fault::of(
            Kind::Foreign,
            "this form is not from this browser or is too old; reload the page and send it again (cookies must be allowed)",
        ))
    }
}

fn form_token(form: &str) -> String {
    secret::challenge(&format!("arena form\n{form}"))
}

impl Auth {
    pub(super) fn is_https(&self) -> bool {
        self.house.public_url.starts_with("https://")
    }
}
