/**
 * Chooses between the two engines: uWebSockets.js (`uws`), or node:http with `ws` (`node`). uWebSockets.js costs less
 * CPU, but its builds do not run everywhere, and the build for Node 20 has a fault.
 */
import type { EngineName } from '../engine/options.ts'
import { loadUws } from '../listeners/uws/load.ts'
import { ConfigError } from '../process/config.ts'

export type EngineChoice = {
  engine: EngineName
  /** A clause for the user: the reason against uWebSockets.js, or its fault on this machine. */
  reason: string | null
  /** True if the package's binary is not the tested binary. */
  isForeign?: boolean
}

/**
 * Returns the HTTP engine that the command `up` uses with this value of the setting `engine`. Loads a library and opens
 * nothing. Throws ConfigError if the setting asks for uWebSockets.js and it does not run here.
 */
export function chooseEngine(setting: 'auto' | EngineName): EngineChoice {
  if (setting === 'node') return { engine: 'node', reason: 'the setting `engine` names it' }
  const fault = faultOfBuild(process.versions.node)
  if (setting === 'auto' && fault !== null) return { engine: 'node', reason: fault }
  const uws = loadUws()
  if (!('problem' in uws)) return { engine: 'uws', reason: fault }
  if (setting === 'auto') return { engine: 'node', reason: uws.problem, isForeign: uws.isForeign }
  throw new ConfigError(`PARLEY_ENGINE: ${uws.problem}; leave the setting out, or set it to node`)
}

/**
 * Describes the choice for banner, `doctor` and log: `node:http with ws, because uWebSockets.js for Node 24 needs glibc
 * 2.38, …`.
 */
export function describeEngine({ engine, reason }: EngineChoice): string {
  if (engine === 'node') return `node:http with ws${reason === null ? '' : `, because ${reason}`}`
  return `uWebSockets.js${reason === null ? '' : `, although ${reason}`}`
}

/**
 * Returns the fault in this Node's uWebSockets.js build, or null. The builds for Node before 22 use a uWebSockets from
 * 2023. Its parser treats a header name with `_` or `.` as an unfinished request.
 */
function faultOfBuild(nodeVersion: string): string | null {
  const major = Number(nodeVersion.split('.')[0])
  if (major >= 22) return null
  return `uWebSockets.js for Node ${major} never answers a request with a header name such as x_id or x.id`
}
