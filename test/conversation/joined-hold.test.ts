/**
 * People have joined a call, and its caller waits on hold. Their audio and words must not reach the caller, the
 * recording or the transcript.
 */
import t from 'tap'
import { holdClip } from '../../audio/hold-tones.ts'
import { Recorder } from '../../domain/conversation/hearing/recorder.ts'
import { likenessOf } from '../audio/likeness.ts'
import { speechAt } from '../speech/samples.ts'
import { rateHz } from './caller.ts'
import { memoryFile, setup, silentLog } from './joined-call.ts'
import { SimulatedPerson } from './joined-person.ts'

const maria = { identity: 'join_1', displayName: 'Maria' }
const noName = { identity: 'join_2', displayName: null }
const music = { tone: 'music', audio: null } as const
const after = { note: 'The call was not transferred.', message: null, hint: '', endsCall: false }

t.test('while the caller is on hold, a person who has joined is neither played to anybody nor recorded', async (t) => {
  const file = memoryFile()
  const all = setup({
    recorder: (clock) => new Recorder({ file, peaks: memoryFile(), clock, log: silentLog, endsAs: 'ready' }),
  })
  const [first, second] = [all.join(maria), all.join(noName)]
  const [onHold, later, ofCaller] = await Promise.all([
    speechAt('privacy-prompt', rateHz),
    speechAt('please-try-call-later', rateHz),
    speechAt('tt-weasels', rateHz),
  ])
  const lengthMs = onHold.length / 16
  first.hasMicrophone = true
  await all.run(500)
  let held = 0
  all.conversation.hold(music, () => held++)
  await all.until(() => held > 0)
  // Frames from before the hold are still on their way.
  await all.run(200)
  all.toCaller()
  for (const person of [first, second]) person.received()
  first.speak(onHold)
  all.sim.speak(ofCaller)
  await all.run(lengthMs + 300)
  const caller = all.toCaller()
  t.ok(likenessOf(onHold, caller) < 0.3, `the caller: ${likenessOf(onHold, caller).toFixed(3)}`)
  const clip = holdClip('music', rateHz).subarray(0, rateHz)
  t.ok(likenessOf(clip, caller) > 0.99, 'the caller receives the music')
  for (const person of [first, second]) {
    const received = person.received()
    t.ok(received.length > rateHz, 'frames go on')
    t.ok(
      received.every((sample) => sample === 0),
      'a person receives silence',
    )
  }
  all.conversation.resume(after)
  await all.run(500)
  first.speak(later)
  await all.run(later.length / 16 + 300)
  const [toCaller, toSecond] = [all.toCaller(), second.received()]
  t.ok(likenessOf(later, toCaller) > 0.99, 'after the hold the caller receives the person')
  t.ok(likenessOf(later, toSecond) > 0.99, 'the other person receives it too')
  all.conversation.end('api_ended')
  await all.run(500)
  const [left, right] = [file.side(0), file.side(1)]
  t.ok(likenessOf(onHold, right) < 0.3, `the recording: ${likenessOf(onHold, right).toFixed(3)}`)
  t.ok(likenessOf(ofCaller, left) < 0.3, 'the caller is not recorded either')
  t.ok(likenessOf(later, right) > 0.99, 'after the hold the person is recorded')
})

t.test('the words of a person who has joined are in the transcript until the hold begins, and after it', async (t) => {
  const all = setup()
  const person = all.join(maria)
  const written = () => all.texts().filter((text) => text.startsWith('agent: '))
  person.say('please wait')
  await all.until(() => written().length > 0)
  person.say('one moment then the secret number is seventeen')
  await all.run(700)
  all.conversation.hold(music, () => {})
  await all.run(8000)
  t.match(written(), ['agent: please wait', /^agent: one moment/])
  t.notMatch(written().join(), /secret|seventeen/)
  person.say('the code is nineteen')
  const typist = all.conversation.join(noName, new SimulatedPerson())
  typist.userMessage('typed meanwhile')
  typist.contextualUpdate('noted meanwhile')
  await all.run(8000)
  const before = written().length
  all.conversation.resume(after)
  await all.run(500)
  person.say('here we are')
  await all.until(() => written().length > before)
  await all.run(2000)
  t.notMatch(all.texts().join(), /meanwhile/)
  t.equal(before, 2, written().join(' | '))
  t.equal(written().at(-1), 'agent: here we are')
})

t.test('a person who joins during a hold is transcribed only after it, and then mutes the agent', async (t) => {
  const all = setup()
  await all.run(300)
  all.conversation.hold(music, () => {})
  const person = all.join(maria)
  person.say('the code is nineteen')
  await all.run(5000)
  all.conversation.resume({ ...after, message: 'Nobody is free right now.' })
  await all.run(3000)
  t.same(
    all.texts().filter((text) => !text.startsWith('system: ')),
    [],
    'the person speaks for the agent',
  )
  person.say('here we are')
  await all.until(() => all.texts().includes('agent: here we are'))
})
