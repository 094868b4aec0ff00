//! One half after the other, with what the server keeps in between passed on as text.

use kernel::{Fault, Kind};
use passkeys::{Asked, Refused, RelyingParty};
use serde_json::Value;
use testkit::authenticator::Authenticator;

const ORIGIN: &str = "https://arena.example";

fn party() -> RelyingParty {
    RelyingParty::of(&format!("{ORIGIN}/").parse().unwrap(), "Arena").unwrap()
}

fn options(asked: &Asked) -> Value {
    serde_json::from_str(&asked.options).unwrap()
}

/// A person `p` with a passkey on a device.
struct Enrolled {
    party: RelyingParty,
    device: Authenticator,
    key: String,
}

impl Enrolled {
    fn new(counter: u32) -> Self {
        let (party, mut device) = (party(), Authenticator::new(7));
        device.counter = counter;
        let asked = party.ask_to_make("p", "alpha", Vec::new()).unwrap();
        let made = party.made(&asked.state, &device.make(&options(&asked), ORIGIN).to_string()).unwrap();
        assert_eq!(made.credential, device.credential);
        Self { party, device, key: made.key }
    }

    /// One sign-in from begin to end.
    fn sign(&mut self, origin: &str) -> Result<String, Refused> {
        let asked = self.party.ask_to_sign().unwrap();
        let answer = self.device.sign(&options(&asked), origin).to_string();
        let claim = RelyingParty::claim(&answer)?;
        assert_eq!(claim.credential, self.device.credential);
        self.party.used(&asked.state, &claim, "p", &self.key)
    }
}

#[track_caller]
fn words<T: std::fmt::Debug>(refused: Result<T, Refused>) -> String {
    let fault = Fault::from(refused.unwrap_err());
    assert!(matches!(fault.kind, Kind::Unauthenticated | Kind::Invalid), "{fault:?}");
    fault.message
}

#[test]
fn what_is_asked_for_needs_no_nickname_later() {
    let asked = party().ask_to_make("p", "alpha", vec![vec![1, 2, 3]]).unwrap();
    let asked = &options(&asked)["publicKey"];
    assert_eq!(asked["authenticatorSelection"]["residentKey"], "required");
    assert_eq!(asked["authenticatorSelection"]["requireResidentKey"], true);
    assert_eq!(asked["authenticatorSelection"]["userVerification"], "required");
    assert_eq!((&asked["rp"]["id"], &asked["user"]["name"]), (&"arena.example".into(), &"alpha".into()));
    assert_eq!(asked["excludeCredentials"][0]["id"], "AQID");
    assert_ne!(asked["attestation"], "direct");
    let asked = options(&party().ask_to_sign().unwrap());
    assert_eq!(asked["publicKey"]["rpId"], "arena.example");
    assert!(asked.get("mediation").is_none(), "{asked}");
    assert_eq!(asked["publicKey"]["allowCredentials"], serde_json::json!([]));
}

#[test]
fn a_passkey_opens_again_and_again() {
    for counter in [0, 5] {
        let mut alpha = Enrolled::new(counter);
        for _ in 0..3 {
            let before = alpha.key.clone();
            alpha.key = alpha.sign(ORIGIN).unwrap();
            assert_eq!(alpha.key == before, counter == 0, "a counter is kept");
        }
    }
}

#[test]
fn a_counter_that_does_not_grow_is_a_copy() {
    let mut alpha = Enrolled::new(5);
    let copy = alpha.device.clone();
    alpha.key = alpha.sign(ORIGIN).unwrap();
    alpha.device = copy;
    assert!(matches!(alpha.sign(ORIGIN), Err(Refused::Copied)), "the same once more");
    alpha.device.counter = 0;
    assert!(matches!(alpha.sign(ORIGIN), Err(Refused::Copied)), "back at nothing");
    alpha.device.counter = 100;
    alpha.sign(ORIGIN).unwrap();
}

#[test]
fn a_signature_counts_for_this_server_this_challenge_and_this_person_only() {
    let mut alpha = Enrolled::new(0);
    for origin in [
        "https://evil.example",
        "http://arena.example",
        "https://arena.example:444",
        "https://sub.arena.example",
        "https://arena.example.evil.example",
        "null",
    ] {
        let refused = alpha.sign(origin);
        assert!(refused.is_err(), "{origin}");
    }
    alpha.device.party = Some("evil.example".to_owned());
    assert!(words(alpha.sign(ORIGIN)).contains("another address"));
    alpha.device.party = None;
    alpha.device.verifies = false;
    assert!(words(alpha.sign(ORIGIN)).contains("did not check that it is you"));
    alpha.device.verifies = true;
    let handle = std::mem::take(&mut alpha.device.handle);
    assert!(words(alpha.sign(ORIGIN)).contains("somebody else"));
    alpha.device.handle = handle;
    // Another challenge than the one that was asked with.
    let (one, two) = (alpha.party.ask_to_sign().unwrap(), alpha.party.ask_to_sign().unwrap());
    let answer = alpha.device.sign(&options(&one), ORIGIN).to_string();
    let claim = RelyingParty::claim(&answer).unwrap();
    assert!(words(alpha.party.used(&two.state, &claim, "p", &alpha.key)).contains("does not hold"));
    // Another person's claim to the same passkey, and another device under the same name.
    assert!(words(alpha.party.used(&one.state, &claim, "q", &alpha.key)).contains("somebody else"));
    alpha.party.used(&one.state, &claim, "p", &alpha.key).unwrap();
    let mut forger = Authenticator::new(9);
    forger.credential.clone_from(&alpha.device.credential);
    forger.handle.clone_from(&alpha.device.handle);
    alpha.device = forger;
    assert!(words(alpha.sign(ORIGIN)).contains("does not hold"));
}

#[test]
fn a_new_passkey_is_made_as_it_was_asked_for() {
    let party = party();
    let refused = |device: &mut Authenticator, origin: &str| {
        let asked = party.ask_to_make("p", "alpha", Vec::new()).unwrap();
        words(party.made(&asked.state, &device.make(&options(&asked), origin).to_string()))
    };
    let mut device = Authenticator::new(7);
    assert!(refused(&mut device, "https://evil.example").contains("another address"));
    device.verifies = false;
    assert!(refused(&mut device, ORIGIN).contains("did not check"));
    device.verifies = true;
    device.party = Some("evil.example".to_owned());
    assert!(refused(&mut device, ORIGIN).contains("another address"));
    device.party = None;
    // Of a ceremony before, and one that signs in instead.
    let (one, two) =
        (party.ask_to_make("p", "a", Vec::new()).unwrap(), party.ask_to_make("p", "a", Vec::new()).unwrap());
    let made = device.make(&options(&one), ORIGIN).to_string();
    assert!(words(party.made(&two.state, &made)).contains("does not hold"));
    let signed = device.sign(&options(&party.ask_to_sign().unwrap()), ORIGIN).to_string();
    assert!(words(party.made(&one.state, &signed)).contains("cannot be read"));
    // One that the person has already.
    let again = party.ask_to_make("p", "a", vec![device.credential.clone()]).unwrap();
    let made = device.make(&options(&again), ORIGIN).to_string();
    assert!(words(party.made(&again.state, &made)).contains("does not hold"));
}

#[test]
fn nonsense_is_refused_in_words() {
    let party = party();
    let asked = party.ask_to_make("p", "alpha", Vec::new()).unwrap();
    let deep = "[".repeat(10_000);
    for nonsense in ["", "{}", "null", "[]", "{\"id\":1}", deep.as_str()] {
        assert!(words(party.made(&asked.state, nonsense)).contains("cannot be read"), "{nonsense:.20}");
        assert!(words(RelyingParty::claim(nonsense)).contains("cannot be read"), "{nonsense:.20}");
    }
    // Well formed on the outside, cut at every place on the inside.
    let made = Authenticator::new(7).make(&options(&asked), ORIGIN);
    let object = made["response"]["attestationObject"].as_str().unwrap().to_owned();
    for cut in (0..object.len()).step_by(4) {
        let mut bad = made.clone();
        bad["response"]["attestationObject"] = object[..cut].into();
        words(party.made(&asked.state, &bad.to_string()));
    }
}
