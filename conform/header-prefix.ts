/**
 * A deployment can replace `Service` in the names of headers and subprotocols (the setting `headerPrefix`). The served
 * documents have the deployment's names, and this release's documents have the usual names.
 */

/** The prefix in this release's documents. */
export const usualPrefix = 'Service'

/** Finds the prefix in a document's text. Every document names the header for request ids, or a subprotocol. */
export function prefixIn(text: string): string {
  const [, ofHeader] = /"([A-Za-z][A-Za-z0-9]{0,31})-Request-ID"/.exec(text.replaceAll('"X-Request-ID"', '')) ?? []
  const [, ofProtocol] = /"([a-z][a-z0-9]{0,31})\.(?:realtime|session)\.v\d+"/.exec(text) ?? []
  return ofHeader ?? ofProtocol ?? usualPrefix
}

/** Puts a prefix into a release document's text, in the places where the server puts it. */
export function withPrefix(text: string, prefix: string): string {
  const [lower, upper] = [prefix.toLowerCase(), prefix]
  return text
    .replace(/\b(X-)?Service-(?=[A-Z])/g, `$1${upper}-`)
    .replace(/\bx-service-(?=[a-z])/g, `x-${lower}-`)
    .replace(/\bservice\.(?=realtime\.|session\.|ephemeral\.)/g, `${lower}.`)
}
