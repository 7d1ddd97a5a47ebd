//! A TCP proxy before a server: it holds requests, cuts connections, delays answers, and moves to another server.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Where to go on when so many more requests with the marker were passed on.
struct Move {
    marker: Vec<u8>,
    requests: usize,
    server: u16,
}

/// The proxy; its threads end when the test does.
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    server: u16,
    /// Requests that contain this are held, with all that follow on the same connection.
    held: Option<Vec<u8>>,
    /// How many requests are being held.
    holding: usize,
    delay: Duration,
    /// How many requests were passed on.
    passed: usize,
    /// The move that is to come.
    next: Option<Move>,
    clients: Vec<TcpStream>,
}

impl Proxy {
    /// Passes everything on to this port of the loopback address.
    pub fn before(server: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        shared.lock().server = server;
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                accepting.clone().connect(client);
            }
        });
        Proxy { port, shared }
    }

    /// The address of database 0 of a Redis behind it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Holds every request that contains `marker`, and what follows on its connection, until [`Proxy::release`].
    pub fn hold(&self, marker: &[u8]) {
        self.shared.lock().held = Some(marker.to_vec());
    }

    /// Waits until a request is being held.
    pub async fn wait_until_holding(&self) {
        for _ in 0..1000 {
            if self.shared.lock().holding > 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no request came that would be held");
    }

    /// Passes on what was held, also of connections whose clients are gone.
    pub fn release(&self) {
        self.shared.lock().held = None;
        self.shared.changed.notify_all();
    }

    /// Closes all connections on the clients' side; what is held stays held.
    pub fn cut(&self) {
        self.shared.lock().cut();
    }

    /// Gives every answer so much later.
    pub fn delay(&self, delay: Duration) {
        self.shared.lock().delay = delay;
    }

    /// How many requests were passed on so far.
    pub fn passed(&self) -> usize {
        self.shared.lock().passed
    }

    /// Moves to another server when so many more requests that contain `marker` were passed on: connections are closed,
    /// new ones go there.
    pub fn move_after(&self, requests: usize, marker: &[u8], server: u16) {
        self.shared.lock().next = Some(Move { marker: marker.to_vec(), requests, server });
    }

    /// Whether a move that was asked for is still to come.
    pub fn will_move(&self) -> bool {
        self.shared.lock().next.is_some()
    }
}

impl State {
    /// Counts a request that was passed on, and moves if it is time.
    fn count(&mut self, request: &[u8]) {
        let Some(next) = self.next.as_mut().filter(|next| contains(request, &next.marker)) else { return };
        next.requests -= 1;
        if next.requests == 0 {
            self.server = next.server;
            self.next = None;
            self.cut();
        }
    }

    fn cut(&mut self) {
        for client in self.clients.drain(..) {
            // One that has left by itself is fine.
            let _ = client.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn connect(self: Arc<Shared>, client: TcpStream) {
        let mut state = self.lock();
        let Ok(server) = TcpStream::connect(("127.0.0.1", state.server)) else { return };
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        state.clients.push(client.try_clone().unwrap());
        drop(state);
        let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let answers = self.clone();
        std::thread::spawn(move || answers.pass_answers(from, to));
        std::thread::spawn(move || self.pass_requests(client, server));
    }

    fn pass_requests(&self, mut client: TcpStream, mut server: TcpStream) {
        let mut chunk = vec![0; 1 << 16];
        while let Ok(read @ 1..) = client.read(&mut chunk) {
            self.wait_while_held(&chunk[..read]);
            // Answers wait for the lock: none comes to its client before its request was counted.
            let mut state = self.lock();
            if server.write_all(&chunk[..read]).is_err() {
                break;
            }
            state.passed += 1;
            state.count(&chunk[..read]);
        }
        let _ = server.shutdown(Shutdown::Both);
    }

    fn wait_while_held(&self, chunk: &[u8]) {
        let mut state = self.lock();
        let is_held = |state: &State| match &state.held {
            Some(marker) => contains(chunk, marker),
            None => false,
        };
        if !is_held(&state) {
            return;
        }
        state.holding += 1;
        while state.held.is_some() {
            state = self.changed.wait(state).unwrap();
        }
        state.holding -= 1;
    }

    fn pass_answers(&self, mut server: TcpStream, mut client: TcpStream) {
        let mut chunk = vec![0; 1 << 20];
        loop {
            let read = match server.read(&mut chunk) {
                Ok(read @ 1..) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                _ => break,
            };
            let delay = self.lock().delay;
            std::thread::sleep(delay);
            if client.write_all(&chunk[..read]).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}
