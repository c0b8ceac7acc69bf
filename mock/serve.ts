/** The command `parley mock`: serves until Ctrl-C or SIGTERM. */
import { type MockOptions, startMock } from './server.ts'

/** Calls `ready` with the URL. Resolves when a signal has ended the server. Throws ConfigError. */
export async function serveMock(options: MockOptions, ready: (url: string) => void): Promise<void> {
  const server = await startMock(options)
  const signal = new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve())
  })
  ready(server.url)
  await signal
  await server.close()
}
