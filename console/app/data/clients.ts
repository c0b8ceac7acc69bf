/** Makes the generated clients. Their requests carry the page's session cookie. */
import { createPlatformClient } from '../../../generated/clients/typescript/platform.ts'
import { createRouterClient } from '../../../generated/clients/typescript/router.ts'
import { createConsoleClient } from '../../../generated/console/client.ts'

/** A person waits for the response, so the page waits less than a program would. */
const timeoutMs = 30_000

/** The browser adds the cookie, because the page and the API have the same origin. */
const options = { baseUrl: window.location.origin, timeoutMs, retriesMax: 1 }

export const platform = createPlatformClient(options)
export const router = createRouterClient(options)
export const signing = createConsoleClient(options)
