/** Sets up a conversation on a test clock, with people who join the conversation. */
import type { GrowingFile } from '../../domain/conversation/hearing/recorded-peaks.ts'
import type { MediaTransport } from '../../domain/ports/media.ts'
import { SimulatedPerson } from './joined-person.ts'
import { converse, type Options } from './setup.ts'

export const silentLog = { info() {}, warn() {}, error() {} }

export function setup(options: Options = {}) {
  const all = converse(options)
  const people: SimulatedPerson[] = []
  const join = (who: { identity: string; displayName: string | null }, person = new SimulatedPerson()) => {
    person.join(all.conversation.join(who, person))
    people.push(person)
    return person
  }
  const run = async (ms: number) => {
    for (let tick = 0; tick < ms / 10; tick++) {
      await all.sim.run(10)
      for (const person of people) person.step()
    }
  }
  const until = async (isDone: () => boolean, mostMs = 20_000) => {
    for (let ms = 0; ms < mostMs && !isDone(); ms += 10) await run(10)
    if (!isDone()) throw new Error('it takes too long')
  }
  return { ...all, join, run, until, toCaller: framesOf(all.sim) }
}

/** Collects all frames that are sent to the caller from now on. */
function framesOf(media: MediaTransport): () => Int16Array {
  const frames: Int16Array[] = []
  const send = media.frame.bind(media)
  media.frame = (samples) => {
    frames.push(samples.slice())
    send(samples)
  }
  return () => Int16Array.from(frames.splice(0).flatMap((frame) => [...frame]))
}

/** Makes a recording in memory. */
export function memoryFile(): GrowingFile & { side(channel: 0 | 1): Int16Array } {
  const parts: Uint8Array[] = []
  return {
    append: (bytes) => Promise.resolve(void parts.push(bytes.slice())),
    replaceStart: () => Promise.resolve(),
    close: () => Promise.resolve(),
    side(channel) {
      const both = new Int16Array(Uint8Array.from(Buffer.concat(parts.slice(1))).buffer)
      return both.filter((_, at) => at % 2 === channel)
    },
  }
}
