/** A transfer recipient is asked whether to accept the call. Uses a test clock. */
import t from 'tap'
import type { Decision } from '../../domain/conversation/words/decision-words.ts'
import { SimulatedPerson, wordsIn } from './joined-person.ts'
import { converse } from './setup.ts'

const question = 'Say yes or no.'

/** Simulates a phone that plays audio at once, and reports the played marks. */
class Phone extends SimulatedPerson {
  readonly marks: string[] = []
  override mark = (name: string) => void this.marks.push(name)
  override clear = () => {}
}

function screen() {
  const { sim, conversation } = converse()
  const person = new Phone()
  const decided: Decision[] = []
  const screening = conversation.screen(question, person, {
    decided: (decision) => void decided.push(decision),
    observer: null,
  })
  person.join(screening)
  const run = async (ms: number) => {
    for (let tick = 0; tick < ms / 10; tick++) {
      await sim.run(10)
      person.step()
      for (const name of person.marks.splice(0)) screening.played(name)
    }
  }
  return { person, decided, run, screening }
}

t.test("if a transfer recipient's reply is unclear, the recipient is asked again to accept the call", async (t) => {
  const { person, decided, run } = screen()
  await run(4000)
  t.equal(wordsIn(person.received(), 'agent'), question)
  person.say('Sorry what was that')
  await run(8000)
  t.equal(wordsIn(person.received(), 'agent'), question)
  t.same(decided, [])
  person.say('yes please')
  await run(4000)
  t.same(decided, ['accepted'])
})

t.test('a transfer recipient is asked at most three times, and words before the question are no reply', async (t) => {
  const { person, decided, run, screening } = screen()
  person.say('Hello')
  await run(6000)
  t.equal(wordsIn(person.received(), 'agent'), question, 'a greeting is no answer to what was not asked yet')
  for (const asked of [question, question, '']) {
    person.say('Sorry what was that')
    await run(8000)
    t.equal(wordsIn(person.received(), 'agent'), asked)
  }
  person.say('no')
  await run(4000)
  t.same(decided, ['declined'], 'a late answer still decides')
  screening.close()
  person.say('yes')
  await run(4000)
  t.same(decided, ['declined'])
})
