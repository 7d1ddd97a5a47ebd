//! An MCP server over stdin and stdout, for the tests.
//!
//! `mcp_stdio` serves the tools; `mcp_stdio die` fails at once; `mcp_stdio deaf` shakes hands and reads no
//! more; `mcp_stdio noisy` writes to stderr and, before its messages, to stdout.

use std::error::Error;
use std::io::{BufRead, Write};

use rmcp::ServiceExt;
use support::mcp_tools::Tools;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("die") => std::process::exit(7),
        Some("deaf") => deaf()?,
        Some("noisy") => {
            for _ in 0..10_000 {
                eprintln!("a line that nobody reads, and that must not fill a pipe");
            }
            println!("hello\n\n{{\"not\": \"a message\"}}");
            println!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{}}}}");
        }
        _ => {}
    }
    let service = Tools::default().serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}

/// Answers the first message and reads nothing after it.
fn deaf() -> std::io::Result<()> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let result =
        r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"deaf","version":"1"}}"#;
    println!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#);
    std::io::stdout().flush()?;
    loop {
        std::thread::park();
    }
}
