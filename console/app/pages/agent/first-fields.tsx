import { useMutation, useQuery } from '@tanstack/react-query'
import { Volume2 } from 'lucide-react'
import { useRef } from 'react'
import type { Agent } from '../../../../generated/clients/typescript/models/platform.ts'
import { voicesQuery } from '../../data/agent.ts'
import { previewVoice } from '../../data/voice-preview.ts'
import { TextField } from '../../parts/field.tsx'
import { AreaField, FieldRow } from '../../parts/form.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { RoleButton } from '../../parts/role.tsx'
import styles from './first-fields.module.css'

type Start = Pick<Agent, 'name' | 'systemPrompt' | 'intent' | 'voice' | 'firstMessage'>

/** Asks for the settings that every agent needs. */
export function FirstFields({ start }: { start?: Start }) {
  return (
    <>
      <FieldRow>
        <TextField
          label="Name"
          name="name"
          required
          maxLength={120}
          defaultValue={start?.name}
          placeholder="Front desk"
        />
        <TextField
          label="Language"
          name="language"
          required
          defaultValue={start?.intent.language ?? 'en'}
          pattern="[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*"
          title="A tag such as en or es-MX"
        />
        <VoiceField start={start?.voice ?? null} />
      </FieldRow>
      <AreaField
        label="Prompt"
        name="systemPrompt"
        required
        rows={12}
        maxLength={65_536}
        defaultValue={start?.systemPrompt}
        placeholder="You answer the phone of a bicycle shop. Be friendly and brief."
        note="Variables are filled in: {{ name }}."
      />
      <AreaField
        label="First message"
        name="firstMessage"
        rows={2}
        maxLength={2000}
        defaultValue={start?.firstMessage ?? ''}
        placeholder="Hello, how can I help?"
      />
    </>
  )
}

function VoiceField({ start }: { start: string | null }) {
  const { data = [] } = useQuery(voicesQuery)
  const input = useRef<HTMLInputElement>(null)
  const preview = useMutation({
    mutationFn: () => previewVoice(input.current?.value.trim() || 'auto', 'Hello. This is how I sound on the phone.'),
  })
  return (
    <div className={styles.voice}>
      <TextField
        ref={input}
        label="Voice"
        name="voice"
        maxLength={256}
        list="voices"
        defaultValue={start ?? ''}
        placeholder="Chosen by routing"
      />
      <RoleButton
        needs="createCompatSpeech"
        disabled={preview.isPending}
        aria-label="Play the voice"
        title="Play the voice"
        onClick={() => preview.mutate()}
      >
        <Volume2 aria-hidden="true" />
      </RoleButton>
      <datalist id="voices">
        {data.map(({ vendor, id, name }) => (
          <option key={`${vendor} ${id}`} value={id}>
            {name} ({vendor})
          </option>
        ))}
      </datalist>
      <ActionFault error={preview.error} />
    </div>
  )
}
