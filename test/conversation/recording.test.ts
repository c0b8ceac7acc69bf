import t from 'tap'
import { Recorder } from '../../domain/conversation/hearing/recorder.ts'
import { wordAt } from './caller.ts'
import { converse } from './setup.ts'

const silentLog = { info: () => {}, warn: () => {}, error: () => {} }

/** Makes a recording in memory. */
function memoryFile() {
  const bytes: number[] = []
  return {
    bytes,
    append: (more: Uint8Array) => {
      for (const byte of more) bytes.push(byte)
      return Promise.resolve()
    },
    replaceStart: (start: Uint8Array) => {
      for (const [at, byte] of start.entries()) bytes[at] = byte
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}

/** Returns the words on one channel of the recording, each with its start time. */
function wordsOf(bytes: readonly number[], channel: 0 | 1, of: 'user' | 'agent') {
  const view = new DataView(new Uint8Array(bytes).buffer, 44)
  const found: { word: string; atMs: number }[] = []
  let last = 0
  for (let frame = 0; frame * 4 + 4 <= view.byteLength; frame++) {
    const sample = view.getInt16(frame * 4 + 2 * channel, true)
    const word = sample === last ? null : wordAt(sample, of)
    if (word !== null) found.push({ word, atMs: frame / 16 })
    if (sample !== 0) last = sample
  }
  return found
}

t.test('the recording has the speech of the caller and of the agent at the right times', async (t) => {
  const file = memoryFile()
  const { sim, record, conversation } = converse({
    recorder: (clock) => new Recorder({ file, peaks: memoryFile(), clock, log: silentLog, endsAs: 'ready' }),
    answerOf: (said) => (said.startsWith('tell') ? 'Once upon a time there was a mighty king.' : 'Yes.'),
  })
  sim.pause(500)
  await sim.run(sim.say('tell me.'))
  await sim.until(() => sim.agentWords.endsWith('time'))
  sim.say('mhm')
  await sim.until(() => record.turns.length === 2)
  await sim.run(500)
  await sim.run(sim.say('is it true.'))
  await sim.until(() => sim.agentWords.endsWith('Yes.'))
  await sim.run(500)
  const runMs = sim.nowMs
  conversation.hangUp()
  await sim.run(100)
  t.match(record.recordings, [{ status: 'recording' }, { status: 'uploading' }, { status: 'ready' }])
  t.ok(Math.abs((record.recordings[2]?.durationMs ?? 0) - runMs) <= 20)
  const user = wordsOf(file.bytes, 0, 'user')
  t.equal(user.map(({ word }) => word).join(' '), 'tell me. mhm is it true.')
  t.ok(Math.abs((user[0]?.atMs ?? 0) - 500) <= 30, `${user[0]?.atMs} ms`)
  const agent = wordsOf(file.bytes, 1, 'agent')
  t.equal(agent.map(({ word }) => word).join(' '), sim.agentWords)
  let last = 0
  const played = sim.played.flatMap(({ atMs, sample }) => {
    const isNew = sample !== 0 && sample !== last
    if (sample !== 0) last = sample
    return isNew ? [atMs] : []
  })
  const offMs = agent.map(({ atMs }, at) => Math.abs(atMs - (played[at] ?? 0)))
  t.ok(Math.max(...offMs) <= 60, `at most ${Math.max(...offMs)} ms off`)
})

t.test('a caller on hold is neither recorded nor transcribed, and the music is not recorded either', async (t) => {
  const file = memoryFile()
  const { sim, record, conversation, texts, requests } = converse({
    recorder: (clock) => new Recorder({ file, peaks: memoryFile(), clock, log: silentLog, endsAs: 'ready' }),
    answerOf: () => 'Yes.',
  })
  await sim.run(500)
  await sim.run(sim.say('tell me.'))
  await sim.until(() => sim.agentWords.endsWith('Yes.'))
  await sim.run(500)
  let heldMs = 0
  conversation.hold({ tone: 'music', audio: null }, () => {
    heldMs = sim.nowMs
  })
  await sim.until(() => heldMs > 0)
  await sim.run(500)
  await sim.run(sim.say('my secret number.'))
  await sim.run(3000)
  const backMs = sim.nowMs
  conversation.resume({ note: 'The call was not transferred.', message: 'Nobody is free.', hint: '', endsCall: false })
  await sim.until(() => sim.agentWords.endsWith('free.'))
  await sim.run(500)
  await sim.run(sim.say('is it true.'))
  await sim.until(() => sim.agentWords.endsWith('Yes.'))
  await sim.run(500)
  conversation.hangUp()
  await sim.run(100)
  t.match(record.recordings.at(-1), { status: 'ready' })
  const user = wordsOf(file.bytes, 0, 'user')
  t.equal(user.map(({ word }) => word).join(' '), 'tell me. is it true.')
  t.notMatch(texts().join(' '), 'secret')
  t.notMatch(JSON.stringify(requests), 'secret', 'the LLM does not get it later')
  const view = new DataView(new Uint8Array(file.bytes).buffer, 44)
  let loudest = 0
  for (let ms = heldMs + 100; ms < backMs; ms++)
    loudest = Math.max(loudest, Math.abs(view.getInt16(ms * 16 * 4 + 2, true)))
  t.equal(loudest, 0, 'the side of the agent is silent')
})

t.test('a recording that is uploaded later is not ready yet when its call ends', async (t) => {
  const file = memoryFile()
  const { sim, record, conversation } = converse({
    recorder: (clock) => new Recorder({ file, peaks: memoryFile(), clock, log: silentLog, endsAs: 'uploading' }),
  })
  await sim.run(500)
  conversation.hangUp()
  await sim.run(100)
  t.same(
    record.recordings.map(({ status }) => status),
    ['recording', 'uploading'],
  )
  const broken = converse({
    recorder: (clock) =>
      new Recorder({
        file: { ...memoryFile(), close: () => Promise.reject(new Error('the disk is full')) },
        peaks: memoryFile(),
        clock,
        log: silentLog,
        endsAs: 'uploading',
      }),
  })
  await broken.sim.run(500)
  broken.conversation.hangUp()
  await broken.sim.run(100)
  t.same(
    broken.record.recordings.map(({ status }) => status),
    ['recording', 'uploading', 'failed'],
  )
})

t.test('the recording of a call without audio is suppressed', async (t) => {
  const { sim, record, conversation } = converse()
  await sim.run(100)
  conversation.hangUp()
  await sim.run(100)
  t.same(record.recordings, [{ status: 'suppressed', durationMs: null }])
})

t.test('ambient sound is played between turns, and does not change the played text', async (t) => {
  const ambient = { clip: 'office-ambience' as const, volume: 1 }
  const story = 'Once upon a time there was a king who lived by the sea.'
  const { sim, record, conversation } = converse({
    settings: { backgroundAudio: { ambient, toolSound: null } },
    answerOf: () => story,
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  await sim.run(1000)
  t.ok(sim.framesReceived >= 45 && sim.framesReceived <= 56, `${sim.framesReceived} frames in a second`)
  t.ok(sim.aheadMaxMs <= 100, 'without speech little is sent ahead')
  await sim.run(sim.say('tell me.'))
  const endMs = sim.nowMs
  await sim.until(() => record.turns.length === 2)
  t.match(record.turns[1], { playedText: story, latencyStatus: 'complete' })
  t.ok((record.turns[1]?.conversationalLatencyMs ?? 0) <= 450, `${record.turns[1]?.conversationalLatencyMs} ms`)
  const saysMs = story.split(' ').join('').length * 60
  t.ok(Math.abs(sim.nowMs - endMs - saysMs - 350) < 150)
  conversation.hangUp()
  await sim.run(100)
  const frames = sim.framesReceived
  await sim.run(500)
  t.equal(sim.framesReceived, frames)
})
