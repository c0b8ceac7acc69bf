/**
 * Serves a contract of specs/ with the deployer's prefix in the names of headers and subprotocols. The text is parsed at the first request,
 * because most servers never get one.
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
