/**
 * Measures how far one organization can disturb another, for each shared resource and on both engines. The honest
 * organization sends its requests alone for 20 s, and then for 60 s beside a hostile organization at its worst. A
 * resource holds if 99 % of the requests are served beside the attack, and if their 99th percentile is within the
 * resource's limit. Prints one line for each resource, and exits 1 if a resource does not hold.
 *
 * Arguments: beginnings of resources' names. Then only these resources are measured. Some resources are measured only
 * if an argument names them.
 */
import '../../test/no-time-limit.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineName } from '../../runtime/engine/options.ts'
import { loadUws } from '../../runtime/listeners/uws/load.ts'
import { forkListener } from '../fork.ts'
import { percentile } from '../stub-engines.ts'
import { probes } from './probes.ts'
import { furtherResources, type Resource, resources, usualLimitMs } from './resources.ts'
import { openWorld, type World } from './world.ts'

const aloneMs = 20_000
const besideMs = 60_000
const usualFilledMs = 3_000
const servedMin = 0.99

type Probed = { served: number; sent: number; p99Ms: number; firstError: string | null }

const asked = process.argv.slice(2)
const isAsked = ({ name }: Resource) => asked.some((start) => name.startsWith(start))
const chosen = asked.length === 0 ? resources : [...resources, ...furtherResources].filter(isAsked)
if (chosen.length === 0) throw new Error(`no resource begins with ${asked.join(' or ')}`)
const engines: EngineName[] = 'problem' in loadUws() ? ['node'] : ['node', 'uws']
const counts = { held: 0, missed: 0 }
for (const engine of engines) for (const resource of chosen) await measure(engine, resource)
console.log(`${counts.held} passed, ${counts.missed} failed`)
process.exit(counts.missed > 0 ? 1 : 0)

async function measure(engine: EngineName, resource: Resource): Promise<void> {
  const world = await openWorld(engine, resource.settings ?? {})
  try {
    await probe(world, resource, 3_000)
    const alone = await probe(world, resource, aloneMs)
    const attacker = await forkListener('isolation/attacker.ts', [resource.attack, JSON.stringify(world)])
    await sleep(resource.filledMs ?? usualFilledMs)
    const beside = await probe(world, resource, besideMs)
    if (!attacker.child.connected) throw new Error(`the attack ${resource.attack} ended early`)
    attacker.child.disconnect()
    report(engine, resource, alone, beside)
  } finally {
    await world.close()
  }
}

/** Sends a probe every `everyMs`, even if earlier probes have not been answered. */
async function probe(world: World, { probe, everyMs }: Resource, durationMs: number): Promise<Probed> {
  const times: number[] = []
  const sent: Promise<void>[] = []
  let firstError: string | null = null
  const send = async () => {
    const startedMs = performance.now()
    try {
      await probes[probe](world)
      times.push(performance.now() - startedMs)
    } catch (error) {
      firstError ??= String(error)
    }
  }
  for (const endMs = performance.now() + durationMs; performance.now() < endMs; await sleep(everyMs)) sent.push(send())
  await Promise.all(sent)
  return { served: times.length, sent: sent.length, p99Ms: percentile(times, 0.99), firstError }
}

function report(engine: EngineName, resource: Resource, alone: Probed, beside: Probed): void {
  const { name, limitMs: limitOf = usualLimitMs } = resource
  const limitMs = limitOf(alone.p99Ms)
  const holds = beside.served >= servedMin * beside.sent && beside.p99Ms <= limitMs
  counts[holds ? 'held' : 'missed'] += 1
  const share = ((100 * beside.served) / beside.sent).toFixed(1)
  const times = `p99 ${beside.p99Ms.toFixed(0)} ms (alone ${alone.p99Ms.toFixed(0)}, limit ${limitMs.toFixed(0)})`
  console.log(`${holds ? 'ok    ' : 'MISSED'} ${engine}, ${name}: ${share} % of ${beside.sent} served, ${times}`)
  if (beside.firstError !== null) console.log(`       the first refusal: ${beside.firstError}`)
}
