/** A contract as it stands in specs/. It is read out of its text when somebody first asks, since most servers are never asked. */
export function serveContract<T>(text: () => string): () => { status: 200; body: T } {
  let body: T | null = null
  return () => ({ status: 200, body: (body ??= JSON.parse(text()) as T) })
}
