/**
 * A conversation in each language that an embedded voice speaks, without an account and a network. The caller types, so
 * no recognizer is needed; test/languages/spoken.test.ts has callers who speak.
 */
import t from 'tap'
import { until } from '../process/machine.ts'
import { serverWith } from '../server.ts'
import { loopbackProviders, Page, rateHz } from '../session/voice-session.ts'
import { type Dialogue, dialogues } from './dialogues.ts'

/** A session needs a recognizer for its language. This recognizer is never used, because all turns are typed. */
const parley = await serverWith({ PARLEY_PROVIDERS: loopbackProviders })
const offline = { stt: ['loopback'], llm: ['local'], tts: ['local'] }

async function talk({ language, greeting, prompt, turns }: Dialogue): Promise<{ texts: unknown[]; seconds: number }> {
  const page = await Page.join(parley, {
    intent: { language },
    systemPrompt: prompt,
    firstMessage: greeting,
    ttsOptions: { sampleRate: rateHz },
    constraints: { allowedProviders: offline },
  })
  const finals = () => page.all('agent_message').filter(({ isFinal }) => isFinal === true)
  for (const [index, [said]] of turns.entries()) {
    await until(`answer ${index + 1} in ${language}`, () => finals().length > index)
    page.send({ type: 'user_message', text: said })
  }
  await until(`the last answer in ${language}`, () => finals().length > turns.length)
  await page.close()
  return { texts: finals().map(({ text }) => text), seconds: page.audio().length / rateHz }
}

for (const dialogue of dialogues) {
  t.test(`an agent answers and speaks in ${dialogue.language} without another service`, async (t) => {
    const { texts, seconds } = await talk(dialogue)
    const expected = [dialogue.greeting, ...dialogue.turns.map(([, answer]) => answer)]
    t.same(texts, expected)
    // The last answer's audio may still be on its way.
    const least = expected.slice(0, -1).join(' ').length / 25
    const most = expected.join(' ').length / 8
    t.ok(seconds > least && seconds < most, `${seconds} s of speech, not between ${least} and ${most} s`)
  })
}
