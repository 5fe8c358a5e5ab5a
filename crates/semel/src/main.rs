mod bench;
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    bench::quick().await
}
