/** Names the contract with the code in its error table. The compat surface uses the router's table. */
type Table = 'router' | 'platform' | 'realtime' | 'session'

/** Returns the path of the code's page. The documentation is served on each host, beside the surfaces. */
export const docUrl = (table: Table, code: string) => `/docs/${table}/error-${code}.html`
