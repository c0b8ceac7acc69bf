import { useState } from 'react'
import type { Agent } from '../../../../generated/clients/typescript/models/platform.ts'
import { agentQuery, isConflict, useUpdateAgent } from '../../data/agent.ts'
import { queries } from '../../data/queries.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { AreaField, FieldGroup, FieldRow } from '../../parts/form.tsx'
import type { FormValues } from '../../parts/form-values.ts'
import { Stack } from '../../parts/layout.tsx'
import { Notice } from '../../parts/notice.tsx'
import { RoleForm } from '../../parts/role.tsx'
import { FirstFields } from './first-fields.tsx'
import { changeIn, othersOf } from './settings.ts'

/** Shows all the agent's settings. The form keeps a person's text until the person takes a newer version. */
export function SettingsForm({ agent }: { agent: Agent }) {
  const [start, setStart] = useState(agent)
  const update = useUpdateAgent(agent.id)
  const [note, setNote] = useState<'unchanged' | 'no_json' | null>(null)
  const isOld = agent.version !== start.version
  const save = (values: FormValues) => {
    setNote(null)
    const change = readChange(values, start)
    if (change === null || Object.keys(change).length === 0) return setNote(change === null ? 'no_json' : 'unchanged')
    update.mutate({ version: start.version, change }, { onSuccess: setStart })
  }
  const takeNewest = () =>
    void queries.fetchQuery({ ...agentQuery(agent.id), staleTime: 0 }).then((newest) => {
      update.reset()
      setStart(newest)
    })
  return (
    <Card>
      <RoleForm
        needs="updateAgent"
        action="Changing and deleting the agent"
        key={start.version}
        submit={save}
        error={isConflict(update.error) ? null : update.error}
        actions={
          <Button type="submit" look="main" disabled={update.isPending}>
            {update.isPending ? 'Saving…' : 'Save'}
          </Button>
        }
      >
        {(isOld || isConflict(update.error)) && (
          <Notice tone="warn" title="Somebody else has changed this agent">
            <p>Your text is not saved yet. Copy what you need, and take the newest version to go on.</p>
            <div>
              <Button isSmall onClick={takeNewest}>
                Take the newest version
              </Button>
            </div>
          </Notice>
        )}
        <FirstFields start={start} />
        <MoreFields start={start} />
        {note === 'unchanged' && <Notice tone="calm" title="Nothing was changed." />}
        {note === 'no_json' && <Notice tone="alarm" title="The other settings are not valid JSON." />}
        {update.isSuccess && !isOld && note === null && (
          <Notice tone="good" title={`Saved as version ${start.version}.`} />
        )}
      </RoleForm>
    </Card>
  )
}

function readChange(values: FormValues, start: Agent) {
  try {
    return changeIn(values, start)
  } catch {
    return null
  }
}

const choice = (...values: readonly (readonly [value: string, label: string])[]) =>
  values.map(([value, label]) => ({ value, label }))

const modes = choice(['', 'By default'], ['message', 'With the first message'], ['generate', 'With words of the LLM'])
const objectives = choice(
  ['', 'By default'],
  ...(['balanced', 'quality', 'latency', 'cost'] as const).map((each) => [each, each] as const),
)
const recordings = choice(['', 'As the organization says'], ['yes', 'Recorded'], ['no', 'Not recorded'])

function MoreFields({ start }: { start: Agent }) {
  return (
    <Stack>
      <FieldGroup label="Models">
        <FieldRow>
          <SelectField
            label="Choose models by"
            name="optimizeFor"
            choices={objectives}
            defaultValue={start.intent.optimizeFor ?? ''}
          />
          <TextField
            label="LLM"
            name="model"
            maxLength={256}
            defaultValue={start.llmOptions?.model ?? ''}
            placeholder="Chosen by routing"
          />
          <TextField
            label="Temperature"
            name="temperature"
            type="number"
            min={0}
            max={2}
            step={0.1}
            defaultValue={start.llmOptions?.temperature ?? ''}
          />
        </FieldRow>
      </FieldGroup>
      <ConversationFields start={start} />
      <AreaField
        label="Other settings as JSON"
        name="others"
        rows={6}
        spellCheck={false}
        defaultValue={othersOf(start)}
        note="Turn-taking, voicemail, variables, values to extract: named as in the API. A setting that is left out is cleared."
      />
    </Stack>
  )
}

function ConversationFields({ start }: { start: Agent }) {
  const recording = start.recording === null ? '' : start.recording ? 'yes' : 'no'
  return (
    <FieldGroup label="The conversation">
      <FieldRow>
        <SelectField
          label="It begins"
          name="firstMessageMode"
          choices={[...modes, { value: 'listen', label: 'With the caller' }]}
          defaultValue={start.firstMessageMode ?? ''}
        />
        <TextField
          label="Longest call in seconds"
          name="maxDurationSeconds"
          type="number"
          min={30}
          max={14_400}
          defaultValue={start.maxDurationSeconds ?? ''}
          placeholder="3600"
        />
        <TextField
          label="It ends after silence of (seconds)"
          name="silenceTimeoutSeconds"
          type="number"
          min={5}
          max={3600}
          defaultValue={start.silenceTimeoutSeconds ?? ''}
          placeholder="60"
        />
      </FieldRow>
      <FieldRow>
        <TextField label="Last words" name="endCallMessage" maxLength={500} defaultValue={start.endCallMessage ?? ''} />
        <TextField
          label="Words if no LLM answers"
          name="fallbackMessage"
          maxLength={500}
          defaultValue={start.fallbackMessage ?? ''}
        />
      </FieldRow>
      <FieldRow>
        <SelectField label="Recording" name="recording" choices={recordings} defaultValue={recording} />
        <TextField label="Time zone" name="timezone" defaultValue={start.timezone ?? ''} placeholder="UTC" />
      </FieldRow>
    </FieldGroup>
  )
}
