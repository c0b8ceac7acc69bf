/** The contract whose error table has the code. The OpenAI-compatible API uses the router contract's table. */
type Table = 'router' | 'platform' | 'realtime' | 'session'

/**
 * Returns the URL path of the code's documentation page. Each host serves the documentation, so the path needs no host.
 */
export const docUrl = (table: Table, code: string) => `/docs/${table}/error-${code}.html`
