// Lets forms marked with data-passkey ask the server, then the browser, and carry the answer.
'use strict';
(() => {
  if (!window.PublicKeyCredential || !navigator.credentials) return;

  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
  const text = (buffer) =>
    btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''))
      .replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  const named = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

  const make = async (options) => {
    const credential = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytes(options.challenge),
        user: { ...options.user, id: bytes(options.user.id) },
        excludeCredentials: named(options.excludeCredentials),
      },
    });
    return [credential, { attestationObject: text(credential.response.attestationObject) }];
  };
  const sign = async (options) => {
    const credential = await navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: bytes(options.challenge),
        allowCredentials: named(options.allowCredentials),
      },
    });
    const { authenticatorData, signature, userHandle } = credential.response;
    return [credential, {
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      userHandle: userHandle && text(userHandle),
    }];
  };

  const begin = async (form) => {
    const response = await fetch(form.dataset.passkey, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(new FormData(form)),
    });
    const told = await response.json();
    if (response.ok) return told;
    const { message } = told.error;
    throw new Error(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  };

  const words = (error) => ({
    NotAllowedError: 'No passkey was used. Press the button to try again.',
    InvalidStateError: 'That device has a passkey of yours already. Use another one.',
    SecurityError: 'The browser allows no passkeys at this address.',
    NotSupportedError: 'That device cannot make such a passkey. Use another one.',
    SyntaxError: 'The server gave no answer that can be read. Try again.',
    TypeError: 'The server cannot be reached. Try again.',
  })[error.name] ?? error.message;

  for (const form of document.querySelectorAll('form[data-passkey]')) {
    const button = form.querySelector('button');
    const problem = form.querySelector('[role=alert]');
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      problem.hidden = true;
      button.disabled = true;
      try {
        const { ticket, options: { publicKey } } = await begin(form);
        const [credential, response] = await (publicKey.user ? make(publicKey) : sign(publicKey));
        form.elements.ticket.value = ticket;
        form.elements.answer.value = JSON.stringify({
          id: credential.id,
          rawId: text(credential.rawId),
          type: credential.type,
          response: { ...response, clientDataJSON: text(credential.response.clientDataJSON) },
          clientExtensionResults: {},
        });
        form.submit();
      } catch (error) {
        problem.textContent = words(error);
        problem.hidden = false;
        button.disabled = false;
      }
    });
    // A page that comes back from the browser's memory can be used again.
    addEventListener('pageshow', () => { button.disabled = false; });
    form.hidden = false;
    for (const note of document.querySelectorAll('[data-no-passkeys]')) note.hidden = true;
  }
})();
