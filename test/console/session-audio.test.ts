/**
 * The browser client plays audio without audio worklets, because browsers offer audio worklets only to secure pages: a
 * page over http from another machine is not secure.
 */
import t from 'tap'
import { openAudio } from '../../console/session/session-audio.js'

type Block = { outputBuffer: { getChannelData(): Float32Array } }

/** Imitates the Web Audio parts that browsers also give pages over http. */
class InsecureContext {
  static last: InsecureContext
  readonly sampleRate = 16_000
  readonly destination = {}
  state = 'running'
  readonly node: { onaudioprocess(block: Block): void; connect(): void; disconnect(): void } = {
    onaudioprocess: () => {},
    connect: () => {},
    disconnect: () => {},
  }

  constructor() {
    InsecureContext.last = this
  }

  createScriptProcessor = () => this.node
  resume = () => Promise.resolve()

  close() {
    this.state = 'closed'
    return Promise.resolve()
  }

  /** Lets the device request `blocks` blocks, 128 ms each, and returns the played samples. */
  run(blocks: number): number[] {
    return Array.from({ length: blocks }, () => {
      const block = new Float32Array(2048)
      this.node.onaudioprocess({ outputBuffer: { getChannelData: () => block } })
      return [...block]
    }).flat()
  }
}

t.test('a page over http plays the agent without a microphone, reports played marks, and stops', async (t) => {
  const globals = globalThis as { AudioContext?: unknown }
  globals.AudioContext = InsecureContext
  t.teardown(() => delete globals.AudioContext)
  const audio = await openAudio(null)
  const events: unknown[] = []
  audio.begin(16_000, {
    onFrame: () => t.fail('there is no microphone'),
    onPlayed: (mark) => events.push(mark),
    onCleared: (how) => events.push(how),
  })
  const device = InsecureContext.last
  audio.play(Int16Array.from({ length: 4096 }, () => 16_384).buffer)
  audio.mark('agent-1:256')
  const sound = device.run(4)
  t.ok(sound.filter((sample) => Math.abs(sample - 0.5) < 0.01).length > 4000, 'the sound of the agent')
  t.same(events, ['agent-1:256'])
  audio.play(new Int16Array(16_000).buffer)
  audio.clear()
  t.match(events, ['agent-1:256', { mark: 'agent-1:256', playedMs: 0 }])
  audio.mute(true)
  audio.close()
  t.equal(device.state, 'closed')
})
