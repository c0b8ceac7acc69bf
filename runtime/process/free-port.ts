import { createServer } from 'node:net'
import { ConfigError } from './config.ts'

/**
 * Throws ConfigError if the server cannot listen on `host:port`. The port is tried exclusively, because the HTTP engine
 * shares it among processes: the kernel would also admit a second Parley, which would silently take half the
 * connections.
 */
export async function requireFreePort({ host, port }: { host: string; port: number }): Promise<void> {
  if (port === 0) return
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) =>
      reject(notListening(error, { host, port }, { host: 'PARLEY_HOST', port: 'PARLEY_PORT' })),
    )
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })
}

/** Returns an error with the reason why listening fails and the settings to change. */
export function notListening(
  { code }: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
  settings: { host: string; port: string },
): ConfigError {
  if (code === 'EADDRINUSE')
    return new ConfigError(
      `${settings.port}: ${host}:${port} is taken, perhaps by another Parley; end what listens there, or set ${settings.port}`,
    )
  if (code === 'EACCES')
    return new ConfigError(`${settings.port}: this user may not listen on ${port}; choose one above 1023`)
  return new ConfigError(`${settings.host}: ${host} is no address of this machine (${code ?? 'unknown'})`)
}
