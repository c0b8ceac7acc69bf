/** Reads the metrics of a running Parley from its admin port. */
import { send } from '../router/requests.ts'
import type { Running } from './parley.ts'

/**
 * Returns the metric's sum over all lines that contain `labels`, or over all lines if `labels` is empty. Returns 0 if
 * no line matches.
 */
export async function metric(adminPort: number, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Sends a few requests. Returns true if each process on the port has served a request, now or before. */
export async function bothServe(target: Running, adminPort: number): Promise<boolean> {
  const one = () => send(target, '/router/v1/models', { headers: { connection: 'close' } })
  try {
    // The requests are simultaneous, because the operating system could give all sequential requests to the same
    // process.
    await Promise.all(Array.from({ length: 8 }, one))
    const ports = [adminPort, adminPort + 1]
    const served = await Promise.all(ports.map((port) => metric(port, 'parley_request_seconds_count')))
    return served.every((count) => count > 0)
  } catch {
    return false
  }
}
