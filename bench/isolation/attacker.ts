/**
 * Runs one attack in a separate process, so the attack takes no time from the probes. A real attacker has another
 * machine, so this process gets the lowest priority. Ends with its parent.
 */
import os from 'node:os'
import { type Attack, attacks } from './attacks.ts'
import type { World } from './world.ts'

const [name, world] = process.argv.slice(2) as [Attack, string]
os.setPriority(os.constants.priority.PRIORITY_LOW)
process.on('disconnect', () => process.exit(0))
process.on('uncaughtException', (error) => {
  console.error(`the attack ${name} failed: ${error.stack}`)
  process.exit(1)
})
process.send?.({ port: 0 })
await attacks[name](JSON.parse(world) as World)
