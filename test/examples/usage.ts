/** Compares the usage with the contract's example, after requests whose cost is settled. */
import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import { choiceIn, ledgerRow, settled } from '../store/settlement.ts'
import type { Examples } from './run.ts'

export async function compareUsage(t: Test, examples: Examples, administration: Administration) {
  const acme = await administration.organization('with usage')
  const startedAtMs = Date.parse('2026-11-21T16:00:00Z')
  const settle = async (requestId: string, over: Parameters<typeof ledgerRow>[2]) => {
    const row = ledgerRow(acme.id, `${acme.id}_${requestId}`, { startedAtMs, ...over })
    await settled(administration.store, { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 })
  }
  const tokens = (input: number, output: number) => [
    { unit: 'input_tokens', amount: input },
    { unit: 'output_tokens', amount: output },
  ]
  await settle('1', { costMicroUsd: 120, quantities: tokens(14, 7) })
  await settle('2', { costMicroUsd: 164, quantities: tokens(31, 9) })
  await settle('3', { costMicroUsd: 0, quantities: [], outcome: 'provider_error' })
  await settle('4', { costMicroUsd: null, quantities: [{ unit: 'characters', amount: 18 }], stage: 'tts' })
  const shown = await examples.send(acme, { operation: 'getUsage', parameters: ['from', 'to', 'groupBy'] })
  examples.compare(t, shown, { example: 'getUsage 200: day' })
}
