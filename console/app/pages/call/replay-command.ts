/** Writes the line of a program that does the same as a replay with one model. */
import type { Call } from '../../../../generated/clients/typescript/models/platform.ts'
import { type Choice, promptOf, speechOf } from '../../data/replay.ts'
import { type Command, shellWord } from '../../parts/command-strip.tsx'
import type { Stage } from './replay-address.ts'
import { type Exchange, turnOf } from './replay-exchange.ts'

type Wanted = { call: Call; exchange: Exchange; stage: Stage; choices: readonly Choice[] }

/** `mask` hides private words. curl shows the first model only. */
export function commandOf({ call, exchange, stage, choices }: Wanted, mask: (text: string) => string): Command {
  const [choice = { pin: 'provider/model', voice: null }] = choices
  const { language } = call
  const turn = turnOf(exchange, stage)
  const models = (choices.length > 0 ? choices : [choice]).map(({ pin }) => pin).join(',')
  const replay = `bundle ${shellWord(call.id)} -o call.tar && parley replay call.tar --turn ${turn?.index ?? 0} --with ${shellWord(`${stage}=${models}`)}`
  const routing = { mode: 'explicit', model: choice.pin }
  if (stage === 'stt')
    return {
      ...{ method: 'POST', path: '/router/v1/stt/transcriptions', cli: replay },
      parts: [`request=${JSON.stringify({ language, routing })};type=application/json`, 'audio=@turn.wav'],
    }
  const [text, path] = [mask(turn?.text ?? ''), `/router/v1/${stage === 'llm' ? 'llm/responses' : 'tts/speech'}`]
  if (stage === 'tts') {
    const voice = choice.voice === null ? '' : ` --voice ${shellWord(choice.voice)}`
    const cli = `speak ${shellWord(text)} --model ${shellWord(choice.pin)}${voice} --language ${shellWord(language)}`
    return { method: 'POST', path, body: speechOf(text, language, choice), answersBytes: true, cli }
  }
  const prompt = turn === null ? { input: [] } : promptOf(call, turn)
  const input = prompt.input.map((each) => ({
    ...each,
    content: each.content.map(({ type, text: said }) => ({ type, text: mask(said) })),
  }))
  return { method: 'POST', path, body: { ...prompt, input, routing }, cli: replay }
}
