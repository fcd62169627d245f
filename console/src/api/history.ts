import type { Agent, CreateImportRequest, FileContent, Import } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

/** Imports that are listed; older ones are still in the API. */
const SHOWN_IMPORTS = 50;
const SHOWN_PROBLEMS = 100;
const MAX_AGENTS = 200;
/** Bytes of a file that are enough to recognise it. */
const SAMPLE_BYTES = 65_536;

const TYPES: Readonly<Record<string, FileContent['type']>> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  txt: 'text/csv',
  xml: 'application/xml',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
};

/** The content type of a file by its name. */
export const typeOf = (name: string): FileContent['type'] =>
  TYPES[name.toLowerCase().split('.').at(-1) ?? ''] ?? 'text/csv';

/** The newest imports. */
export const useImports = () =>
  useQuery({
    queryKey: ['imports'],
    queryFn: async () => (await purser.imports.list({ limit: SHOWN_IMPORTS })).data,
  });

/** The bad lines of an import. */
export const useProblems = (id: string) =>
  useQuery({
    queryKey: ['imports', id, 'problems'],
    queryFn: async () => (await purser.imports.listProblems(id, { limit: SHOWN_PROBLEMS })).data,
  });

/** The agents, for selects. */
export const useAgentChoices = () =>
  useQuery<Agent[]>({
    queryKey: ['agents', 'choices'],
    queryFn: async () => (await purser.agents.list({ limit: MAX_AGENTS })).data as Agent[],
  });

/** The newest rails. */
export const useRails = () =>
  useQuery({
    queryKey: ['rails'],
    queryFn: async () => (await purser.rails.list({ limit: SHOWN_IMPORTS })).data,
  });

/** Cards, accounts and projects that lines name or that were assigned. */
export const useInstruments = () =>
  useQuery({
    queryKey: ['instruments'],
    queryFn: async () => (await purser.instruments.list({ limit: MAX_AGENTS })).data,
  });

/** Recognises a file by its beginning. */
export const detect = async (file: File) =>
  purser.imports.detect({ data: await file.slice(0, SAMPLE_BYTES).arrayBuffer(), type: typeOf(file.name) });

/** Makes an import and sends its file. */
export async function sendFile(file: File, body: CreateImportRequest): Promise<Import> {
  const { id } = await purser.imports.create(body);
  return purser.imports.putContent(id, { data: file, type: typeOf(file.name) });
}
