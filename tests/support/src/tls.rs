//! TLS before a plain server, with an authority of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// TLS before a plain server on this machine; it ends with the value.
pub struct Tls {
    /// Where it listens, on the loopback address.
    pub port: u16,
    /// The authority that signed its certificate, in PEM.
    pub ca_file: PathBuf,
    _folder: tempfile::TempDir,
    accepting: JoinHandle<()>,
}

impl Tls {
    /// Passes on what comes over TLS to this port of the loopback address.
    pub async fn before(server: u16) -> Tls {
        let folder = tempfile::tempdir().unwrap();
        make_certificates(folder.path());
        let acceptor = TlsAcceptor::from(Arc::new(config(folder.path())));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepting = tokio::spawn(accept(listener, acceptor, server));
        Tls { port, ca_file: folder.path().join("ca.pem"), _folder: folder, accepting }
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn config(folder: &Path) -> ServerConfig {
    let certificates = CertificateDer::pem_file_iter(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    builder.with_single_cert(certificates.map(Result::unwrap).collect(), key).unwrap()
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, server: u16) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            // A client that does not trust the certificate, or leaves, is a test's intent.
            let Ok(mut client) = acceptor.accept(client).await else { return };
            let Ok(mut server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
            let _ended = copy_bidirectional(&mut client, &mut server).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Makes, in this folder, an authority (`ca.pem`), and a certificate for 127.0.0.1 that it signs (`server.pem`, `server.key`).
pub fn make_certificates(folder: &Path) {
    let new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2";
    let authority = "-subj /CN=authority -keyout ca.key -out ca.pem";
    let server = "-subj /CN=server -keyout server.key -out server.pem -CA ca.pem -CAkey ca.key \
                  -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE";
    for which in [authority, server] {
        let arguments = new.split_whitespace().chain(which.split_whitespace());
        let done =
            Command::new("openssl").args(arguments).current_dir(folder).output().expect("install openssl");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}
