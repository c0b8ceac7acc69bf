import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './field.module.css'

export type Labelled = { label: string; note?: ReactNode }
type FieldNames = { id: string; 'aria-describedby': string | undefined }

/** Joins a field to its label and its note, so a screen reader reads all three together. */
export function useFieldNames(note: ReactNode): { field: FieldNames; noteId: string } {
  const id = useId()
  const noteId = `${id}-note`
  return { field: { id, 'aria-describedby': note === undefined ? undefined : noteId }, noteId }
}

/** Draws a field's label above the field, and its note below. `children` draws the field. */
export function Field({ label, note, children }: Labelled & { children: (names: FieldNames) => ReactNode }) {
  const { field, noteId } = useFieldNames(note)
  return (
    <div className={styles.field}>
      <label htmlFor={field.id}>{label}</label>
      {children(field)}
      {note !== undefined && <small id={noteId}>{note}</small>}
    </div>
  )
}

/** Asks for a text in one line. */
export function TextField({ label, note, ...rest }: ComponentProps<'input'> & Labelled) {
  return (
    <Field label={label} note={note}>
      {(names) => <input className={styles.input} {...names} {...rest} />}
    </Field>
  )
}

type Choice = { value: string; label: string }
type SelectProps = ComponentProps<'select'> & Labelled & { choices: readonly Choice[] }

/** Asks for one of few values. The browser's own list works with every keyboard and every phone. */
export function SelectField({ label, note, choices, ...rest }: SelectProps) {
  return (
    <Field label={label} note={note}>
      {(names) => (
        <select className={styles.input} {...names} {...rest}>
          {choices.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
