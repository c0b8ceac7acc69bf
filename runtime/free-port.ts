import { createServer } from 'node:net'
import { ConfigError } from './config.ts'

/**
 * Throws ConfigError when `host:port` cannot be listened on. The port is tried exclusively, because the engine shares
 * it among processes: the kernel would also admit a second Parley, which would silently take half of the connections.
 */
export async function requireFreePort({ host, port }: { host: string; port: number }): Promise<void> {
  if (port === 0) return
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(new ConfigError(reasonOf(error, host, port))))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })
}

function reasonOf({ code }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `PARLEY_PORT: ${host}:${port} is taken; is another Parley running there?`
  if (code === 'EACCES') return `PARLEY_PORT: this user may not listen on ${port}; choose one above 1023`
  return `PARLEY_HOST: ${host} is no address of this machine (${code ?? 'unknown'})`
}
