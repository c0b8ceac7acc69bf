import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import type { ModelRow, Voice } from '../../../../generated/clients/typescript/models/router.ts'
import { rankingQuery } from '../../data/models.ts'
import type { Choice } from '../../data/replay.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { SelectField } from '../../parts/field.tsx'
import { FieldRow } from '../../parts/form.tsx'
import { plural } from '../../parts/formats.ts'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { StandInNotice } from '../../parts/stand-in-notice.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import styles from './replay.module.css'
import { choicesMax, type Stage } from './replay-address.ts'

type ChoicesProps = {
  stage: Stage
  language: string
  choices: readonly Choice[]
  change: (choices: readonly Choice[]) => void
  isRunning: boolean
  start: () => void
}

/** Asks which models get the request. Nothing is sent before the person presses the button below. */
export function Choices({ stage, language, choices, change, isRunning, start }: ChoicesProps) {
  // A transcription of a recording is one whole request, and the models for whole requests are others.
  const models = useQuery(rankingQuery({ language, path: stage === 'stt' ? 'batch' : 'stream' }))
  return (
    <Card title="Models to try">
      <Stack>
        {stage === 'llm' && <StandInNotice />}
        <Answer of={models} rows={2}>
          {({ models: all }) => (
            <NewChoice
              stage={stage}
              language={language}
              models={servingModels(all, stage)}
              choices={choices}
              change={change}
            />
          )}
        </Answer>
        {choices.length > 0 && (
          <ul className={styles.chosen} aria-label="Chosen models">
            {choices.map((choice) => (
              <li key={nameOf(choice)}>
                {nameOf(choice)}
                <Button
                  look="quiet"
                  isSmall
                  aria-label={`Remove ${nameOf(choice)}`}
                  onClick={() => change(choices.filter((each) => each !== choice))}
                >
                  <X aria-hidden="true" />
                </Button>
              </li>
            ))}
          </ul>
        )}
        <Line>
          <Button look="main" disabled={choices.length === 0 || isRunning} onClick={start}>
            {choices.length === 0 ? 'Replay' : `Replay with ${plural(choices.length, 'model')}`}
          </Button>
          <Faint>
            Each model gets one request, and each request is billed to the organization. At most {choicesMax} at once.
          </Faint>
        </Line>
      </Stack>
    </Card>
  )
}

export const nameOf = ({ pin, voice }: Choice) => (voice === null ? pin : `${pin}, ${voice}`)

function servingModels(models: readonly ModelRow[], stage: Stage): ModelRow[] {
  return models.filter(({ kind, capabilities }) => kind === stage && (stage !== 'stt' || capabilities.batch))
}

type NewChoiceProps = Pick<ChoicesProps, 'stage' | 'language' | 'choices' | 'change'> & { models: readonly ModelRow[] }

function NewChoice({ stage, language, models, choices, change }: NewChoiceProps) {
  const [wanted, setWanted] = useState<string | null>(null)
  const [voice, setVoice] = useState('')
  const model = models.find(({ pin }) => pin === wanted) ?? models[0]
  if (model === undefined)
    return (
      <Empty title="No model can be used for this">
        <p>A model is listed if its provider has a key and the model knows the language.</p>
      </Empty>
    )
  const voices = stage === 'tts' ? voicesIn(model, language) : []
  const choice = { pin: model.pin, voice: voices.some(({ id }) => id === voice) ? voice : null }
  const isChosen = choices.some((each) => nameOf(each) === nameOf(choice))
  return (
    <div className={styles.newChoice}>
      <FieldRow>
        <SelectField
          label="Model"
          value={model.pin}
          choices={models.map(({ pin }) => ({ value: pin, label: pin }))}
          onChange={({ target }) => setWanted(target.value)}
        />
        {voices.length > 0 && (
          <SelectField
            label="Voice"
            value={choice.voice ?? ''}
            choices={[{ value: '', label: 'its default voice' }, ...voices.map(labelled)]}
            onChange={({ target }) => setVoice(target.value)}
          />
        )}
      </FieldRow>
      <Button disabled={isChosen || choices.length >= choicesMax} onClick={() => change([...choices, choice])}>
        <Plus aria-hidden="true" />
        Add
      </Button>
    </div>
  )
}

const labelled = ({ id, name }: Voice) => ({ value: id, label: name === id ? id : `${name} (${id})` })

/** Returns the voices for the language, or all voices if the model has no voice for the language. */
function voicesIn({ voices = [] }: ModelRow, language: string): readonly Voice[] {
  const own = voices.filter((voice) => voice.language === undefined || primary(voice.language) === primary(language))
  return own.length > 0 ? own : voices
}

const primary = (tag: string) => tag.toLowerCase().split('-')[0]
