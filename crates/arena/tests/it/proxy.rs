//! A proxy that adds a key to every request, for clients that cannot send one. It changes nothing else
//! but that each connection carries one request.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// Serves until it is dropped.
pub(crate) struct KeyProxy {
    pub(crate) address: String,
    stop: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl KeyProxy {
    pub(crate) fn before(server: &str, key: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let (server, key, stopped) = (server.to_owned(), key.to_owned(), Arc::clone(&stop));
        let accepting = std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let (server, key) = (server.clone(), key.clone());
                // Ends with its connection; a client that hangs up early is none of our business.
                std::thread::spawn(move || pass_on(client, &server, &key));
            }
        });
        Self { address, stop, accepting: Some(accepting) }
    }
}

impl Drop for KeyProxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        let woken = TcpStream::connect(&self.address);
        if let Some(accepting) = self.accepting.take().filter(|_| woken.is_ok()) {
            let _ = accepting.join();
        }
    }
}

fn pass_on(mut client: TcpStream, server: &str, key: &str) -> Option<()> {
    let mut begun = Vec::new();
    let mut chunk = [0; 4096];
    let end = loop {
        if let Some(at) = begun.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        match client.read(&mut chunk).ok()? {
            0 => return None,
            read => begun.extend_from_slice(&chunk[..read]),
        }
    };
    let head = String::from_utf8(begun[..end].to_vec()).ok()?;
    let mut lines: Vec<&str> =
        head.split("\r\n").filter(|line| !line.to_ascii_lowercase().starts_with("connection:")).collect();
    let credential = format!("authorization: Bearer {key}");
    lines.extend(["connection: close", &credential]);
    let mut server = TcpStream::connect(server).ok()?;
    server.write_all(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).ok()?;
    server.write_all(&begun[end + 4..]).ok()?;
    let (mut from_client, mut to_server) = (client.try_clone().ok()?, server.try_clone().ok()?);
    std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
    std::io::copy(&mut server, &mut client).ok()?;
    // The other direction ends with it.
    client.shutdown(Shutdown::Both).ok()
}
