/** Sends a call's input to other models, and compares the call's results with the new results. */
import type { Command } from 'commander'
import type { RouterClient } from '../generated/clients/typescript/router.ts'
import type { CallTurn } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { routerClient } from './client.ts'
import { CommandError, UsageError } from './command-error.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { type Bundle, readBundle } from './read-bundle.ts'
import { answerAgain, type IsWanted, speakAgain, transcribeAgain } from './replay-stages.ts'
import { linesOfReplay, type Replay, type ReplayedTurn } from './replay-words.ts'

const stages = { stt: transcribeAgain, llm: answerAgain, tts: speakAgain } as const
type Stage = keyof typeof stages
type Target = { stage: Stage; model: string }

/** The maximum number of models in a comparison, because each model costs one request per turn. */
const modelsMax = 16

const about = `
stt: the caller's audio of each turn goes to the model as a recording, and its words are compared with the transcript.
llm: the system prompt and the turns before each answer go to the model; tools are not in a bundle, so it has none.
tts: the text of each turn of the agent is spoken in the default voice of the model; the audio is not kept.
All of them are requests of this Parley, and are billed. "then" is what the call had; its latencies are those of a
conversation, which begins to work before a turn is over, and those of "now" are of single requests.`

export function replay(program: Command, actions: Actions): void {
  program
    .command('replay')
    .description('send a saved call to other models, and compare words and latencies turn by turn')
    .argument('<bundle>', 'a file that `parley bundle` has written')
    .requiredOption(
      '--with <models>',
      'such as stt=deepgram:nova-3,openai:whisper-1,llm=groq:llama-3.3-70b; may be repeated',
      collect,
    )
    .option('--turn <index>', 'replay only this turn', wholeNumber('--turn', 0, 1_000_000))
    .option('--json', 'print the comparison as JSON', false)
    .addHelpText('after', about)
    .action(async (file: string, options: { with: Target[]; turn?: number; json: boolean }) => {
      const bundle = readBundle(file)
      const client = routerClient(await actions.connection())
      const isWanted = ({ index }: CallTurn) => options.turn === undefined || index === options.turn
      const replays: Replay[] = []
      for (const target of options.with)
        replays.push(
          await withProgress(`${target.stage} ${target.model}`, () => replayWith(client, bundle, target, isWanted)),
        )
      print(options.json, { callId: bundle.call.id, replays }, () => linesOfReplay(bundle, replays))
      if (replays.every(({ turns }) => turns.every(({ error }) => error !== null))) process.exitCode = 1
    })
}

async function replayWith(
  client: RouterClient,
  bundle: Bundle,
  { stage, model }: Target,
  isWanted: IsWanted,
): Promise<Replay> {
  const turns: ReplayedTurn[] = []
  for await (const turn of stages[stage](client, bundle, model, isWanted)) turns.push(turn)
  if (turns.length === 0) throw new CommandError(`the call has no such turn to replay with ${stage}`)
  return { stage, model, turns }
}

/**
 * Reads a list of models such as `stt=a:b,c:d`. An entry without `stt`, `llm` or `tts` has the previous entry's stage.
 */
function collect(text: string, before: Target[] = []): Target[] {
  const targets = [...before]
  let stage: Stage | null = null
  for (const entry of text.split(',')) {
    const [, name, model = ''] = /^(?:(\w+)=)?(.*)$/.exec(entry.trim()) ?? []
    if (name !== undefined) stage = isStage(name) ? name : null
    if (stage === null || !isPin.test(model))
      throw new UsageError(
        `--with ${text}: write a stage and a model, such as stt=deepgram:nova-3; stages are stt, llm, tts`,
      )
    targets.push({ stage, model })
  }
  if (targets.length > modelsMax) throw new UsageError(`--with takes at most ${modelsMax} models`)
  return targets
}

const isPin = /^[^:/]+[:/].+$/
const isStage = (name: string): name is Stage => Object.hasOwn(stages, name)
