import { isLoopbackHost } from '../engine/host.ts'
import type { ServerOptions } from '../engine/options.ts'

/** Throws an error with the option's name if its value makes no sense. */
export function checkOptions({ echo, host, limits }: ServerOptions): void {
  // With a value outside this range, uWebSockets.js ends the process.
  if (!(limits.pingS >= 8 && limits.pingS <= 960)) throw new Error('pingS must be from 8 to 960')
  if (echo && !isLoopbackHost(host)) {
    throw new Error(`the echo is served on a loopback address only, not on ${host}`)
  }
}
