{{- define "nearhit.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "nearhit.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "nearhit.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "nearhit.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels that select the pods of a component, which is (list . "gateway" or "worker"). */}}
{{- define "nearhit.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "nearhit.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "nearhit.labels" -}}
{{- $root := index . 0 -}}
{{ include "nearhit.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end -}}

{{- define "nearhit.serviceAccountName" -}}
{{- default (include "nearhit.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "nearhit.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The settings of a component, which is (list . "gateway" or "worker"). The worker authenticates
nobody. toJson writes a large number without an exponent. */}}
{{- define "nearhit.environment" -}}
{{- $root := index . 0 -}}
{{- $unused := ternary (list "NEARHIT_ADMIN_KEY" "NEARHIT_JWT_SECRET") list (eq (index . 1) "worker") -}}
{{- range $name, $value := $root.Values.settings }}
- name: {{ $name }}
  value: {{ (kindIs "string" $value | ternary $value (toJson $value)) | quote }}
{{- end }}
{{- range $name, $secret := $root.Values.secrets }}
{{- if not (has $name $unused) }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ $secret.name | quote }}, key: {{ $secret.key | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* What the pods of both components have in common: (list . .Values.gateway). */}}
{{- define "nearhit.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
serviceAccountName: {{ include "nearhit.serviceAccountName" $root }}
automountServiceAccountToken: false
# Else a Service called `nearhit` sets NEARHIT_PORT to its own URL, which is no port.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65534
  runAsGroup: 65534
  fsGroup: 65534
  seccompProfile: { type: RuntimeDefault }
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with $component.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $component.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $component.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "nearhit.container" -}}
image: {{ include "nearhit.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}
