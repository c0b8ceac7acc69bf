/**
 * A contract as it stands in specs/, with this deployer's prefix in the names of headers and of subprotocols. It is read out of its text when
 * somebody first asks, since most servers are never asked.
 */
export function serveContract<Document>(text: string, prefix: string): () => { status: 200; body: Document } {
  let body: Document | null = null
  return () => ({ status: 200, body: (body ??= JSON.parse(renamed(text, prefix)) as Document) })
}

function renamed(text: string, prefix: string): string {
  const lowerCase = prefix.toLowerCase()
  return text
    .replace(/\b(X-)?Service-(?=[A-Z])/g, `$1${prefix}-`)
    .replace(/\bx-service-(?=[a-z])/g, `x-${lowerCase}-`)
    .replace(/\bservice\.(?=realtime\.|ephemeral\.)/g, `${lowerCase}.`)
}
