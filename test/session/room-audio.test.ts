/**
 * Tests how the server estimates which audio was played in a LiveKit room, where the caller's program does not report
 * it.
 */
import t from 'tap'
import { createRoomAudioWatch, RoomAudio, travelMs } from '../../handlers/session/room-audio.ts'
import { settled, TestClock } from '../clock.ts'

const rateHz = 16_000
const frameMs = 20
const samplesInFrame = (rateHz * frameMs) / 1000

/** A room with a track that buffers `heldMs` and plays in real time. */
class FakeRoom {
  readonly clock: TestClock
  readonly heldMs = 100
  readonly taken: Int16Array[] = []
  drops = 0
  fails = false
  #endsMs = 0

  constructor(clock: TestClock) {
    this.clock = clock
  }

  play(samples: Int16Array): Promise<void> {
    if (this.fails) return Promise.reject(new Error('the room is gone'))
    this.taken.push(samples)
    const nowMs = this.clock.monotonicMs()
    this.#endsMs = Math.max(this.#endsMs, nowMs) + samples.length / (rateHz / 1000)
    const waitMs = this.#endsMs - nowMs - this.heldMs
    return waitMs <= 0 ? Promise.resolve() : new Promise((resolve) => this.clock.after(waitMs, resolve))
  }

  drop(): void {
    this.drops++
    this.#endsMs = this.clock.monotonicMs()
  }
}

function setup() {
  const clock = new TestClock()
  const room = new FakeRoom(clock)
  const played: [string, number][] = []
  const cleared: [string | null, number][] = []
  const failed: unknown[] = []
  const audio = new RoomAudio(
    { clock, watch: createRoomAudioWatch(clock), failed: (error) => failed.push(error) },
    room,
    rateHz,
    {
      played: (mark) => played.push([mark, clock.monotonicMs()]),
      cleared: (mark, playedMs) => cleared.push([mark, playedMs]),
    },
  )
  /** Sends speech for `ms`, with a mark after each 100 ms. */
  const speak = (ms: number, turn = 1) => {
    for (let at = frameMs; at <= ms; at += frameMs) {
      audio.frame(new Int16Array(samplesInFrame).fill(at))
      if (at % 100 === 0) audio.mark(`${turn}:${at}`)
    }
  }
  return { clock, room, audio, played, cleared, failed, speak }
}

t.test('a mark counts as played once its audio was sent and has had time to arrive', async (t) => {
  const { clock, audio, played, speak } = setup()
  speak(400)
  await clock.advance(1000)
  t.same(
    played.map(([mark]) => mark),
    ['1:100', '1:200', '1:300', '1:400'],
  )
  for (const [index, [, atMs]] of played.entries()) {
    const dueMs = 100 * (index + 1) + travelMs
    t.ok(atMs >= dueMs && atMs <= dueMs + 40, `${atMs} ms, due after ${dueMs} ms`)
  }
  t.equal(clock.timers, 0)
  t.equal(audio.answered(), false)
})

t.test('audio frames arrive whole, in order and once, and each buffer begins with a frame', async (t) => {
  const { clock, room, audio } = setup()
  const lent = new Int16Array(3 * samplesInFrame)
  for (let value = 1; value <= 3; value++) {
    const frame = lent.subarray(samplesInFrame, 2 * samplesInFrame).fill(value)
    audio.frame(frame)
    frame.fill(-1)
  }
  await clock.advance(200)
  t.same(
    room.taken.map((frame) => [frame[0], frame.at(-1), frame.length, frame.byteOffset]),
    [1, 2, 3].map((value) => [value, value, samplesInFrame, 0]),
  )
})

t.test('`clear` drops waiting audio, and reports how much audio the track has sent', async (t) => {
  const { clock, room, audio, played, cleared, speak } = setup()
  speak(600)
  await clock.advance(250)
  audio.clear()
  t.same(cleared, [])
  await settled()
  // Audio on its way counts as played when `clear` comes: the mark at 200 ms was passed, and then 50 ms more.
  t.same(cleared, [['1:200', 50]])
  t.equal(room.drops, 1)
  const taken = room.taken.length
  await clock.advance(1000)
  t.equal(room.taken.length, taken, 'nothing that was dropped is played')
  t.same(
    played.map(([mark]) => mark),
    ['1:100'],
  )
  speak(100, 2)
  await clock.advance(500)
  t.equal(played.at(-1)?.[0], '2:100')
  t.equal(clock.timers, 0)
})

t.test('`clear` before the first mark reports the time from the beginning of the audio', async (t) => {
  const { clock, audio, cleared, speak } = setup()
  speak(80)
  await settled()
  await clock.advance(60)
  audio.clear()
  await settled()
  t.same(cleared, [[null, 60]])
})

t.test('a room that failed or was left emits no events and has no timer', async (t) => {
  const { clock, room, audio, played, failed, speak } = setup()
  room.fails = true
  speak(40)
  await settled()
  t.equal(failed.length, 1)
  room.fails = false
  speak(200)
  audio.close()
  await clock.advance(1000)
  t.same(played, [])
  t.equal(clock.timers, 0)
})

t.test('if a room accepts no audio, the waiting audio is limited', async (t) => {
  const { clock, room, audio } = setup()
  room.play = (samples) => {
    room.taken.push(samples)
    return new Promise(() => {})
  }
  for (let count = 0; count < 10_000; count++) {
    audio.frame(new Int16Array(samplesInFrame))
    audio.mark(`1:${count}`)
  }
  t.equal(room.taken.length, 1)
  audio.close()
  await clock.advance(100)
  t.equal(clock.timers, 0)
})
