//! An authenticator in software, with one passkey: what tests hold in place of a finger on a device.
//!
//! It signs with P-256 and writes the few shapes of CBOR that it needs; it knows no other algorithm and asks
//! nobody. Its fields may be bent to make it lie.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use p256::ecdsa::{Signature, SigningKey, signature::Signer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const HAS_CREDENTIAL: u8 = 1 << 6;

#[derive(Clone)]
pub struct Authenticator {
    key: SigningKey,
    pub credential: Vec<u8>,
    /// The person that the passkey was made for.
    pub handle: Vec<u8>,
    /// Instead of what the server says that it is.
    pub party: Option<String>,
    /// Grows with every signature; 0 never counts.
    pub counter: u32,
    /// Whether it checks who touches it.
    pub verifies: bool,
}

impl Authenticator {
    /// Another seed is another device.
    pub fn new(seed: u8) -> Self {
        Self {
            key: SigningKey::from_slice(&[seed.max(1); 32]).expect("a number below the order of the curve"),
            credential: vec![seed; 20],
            handle: Vec::new(),
            party: None,
            counter: 0,
            verifies: true,
        }
    }

    /// Makes the passkey that `options` ask for on a page at `origin`; answers what a browser sends.
    pub fn make(&mut self, options: &Value, origin: &str) -> Value {
        let options = &options["publicKey"];
        self.handle = bytes(&options["user"]["id"]);
        let mut data = self.data(&options["rp"]["id"], HAS_CREDENTIAL);
        data.extend_from_slice(&[0; 16]);
        data.extend_from_slice(&u16::try_from(self.credential.len()).unwrap().to_be_bytes());
        data.extend_from_slice(&self.credential);
        data.extend_from_slice(&self.public_key());
        let mut object = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".to_vec();
        object.extend_from_slice(&u16::try_from(data.len()).unwrap().to_be_bytes());
        object.extend_from_slice(&data);
        self.answer(&json!({
            "attestationObject": text(&object),
            "clientDataJSON": text(&client_data("webauthn.create", options, origin)),
        }))
    }

    /// Signs what `options` ask for on a page at `origin`; answers what a browser sends.
    pub fn sign(&mut self, options: &Value, origin: &str) -> Value {
        let options = &options["publicKey"];
        if self.counter > 0 {
            self.counter += 1;
        }
        let client = client_data("webauthn.get", options, origin);
        let data = self.data(&options["rpId"], 0);
        let signature: Signature = self.key.sign(&[&data[..], &Sha256::digest(&client)].concat());
        self.answer(&json!({
            "authenticatorData": text(&data),
            "clientDataJSON": text(&client),
            "signature": text(signature.to_der().as_bytes()),
            "userHandle": text(&self.handle),
        }))
    }

    fn answer(&self, response: &Value) -> Value {
        let id = text(&self.credential);
        json!({"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}})
    }

    fn data(&self, party: &Value, flags: u8) -> Vec<u8> {
        let party = self.party.as_deref().unwrap_or_else(|| party.as_str().unwrap());
        let verified = if self.verifies { USER_VERIFIED } else { 0 };
        let mut data = Sha256::digest(party).to_vec();
        data.push(USER_PRESENT | verified | flags);
        data.extend_from_slice(&self.counter.to_be_bytes());
        data
    }

    /// A COSE key: EC2, ES256, P-256, x, y.
    fn public_key(&self) -> Vec<u8> {
        let point = self.key.verifying_key().to_sec1_point(false);
        let (x, y) = point.as_bytes()[1..].split_at(32);
        [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", x, b"\x22\x58\x20", y].concat()
    }
}

fn client_data(kind: &str, options: &Value, origin: &str) -> Vec<u8> {
    json!({"type": kind, "challenge": options["challenge"], "origin": origin, "crossOrigin": false})
        .to_string()
        .into_bytes()
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn bytes(text: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.as_str().unwrap()).unwrap()
}
