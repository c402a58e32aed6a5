#!/bin/bash
#SBATCH --account=lab
#SBATCH --cpus-per-task=32
#SBATCH --gres=gpu:gpu2080:4
#SBATCH --job-name=vlm-lora
#SBATCH --mem=80G
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --output=vlm-lora-%j.out
#SBATCH --partition=gpu_shared
#SBATCH --qos=normal
#SBATCH --time=16:00:00

set -e -o pipefail
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}
export GPUADVISE_ADVICE=a-17
export GPUADVISE_GPU=rtx2080ti
export GPUADVISE_GPUS_PER_NODE=4
export GPUADVISE_NODES=2
export GPUADVISE_MICRO_BATCH=3
export GPUADVISE_ACCUMULATION=5
export GPUADVISE_EFFECTIVE_BATCH_SIZE=120
export GPUADVISE_PRECISION=fp16
export GPUADVISE_OUTPUT_DIR="/scratch/$USER/vlm-lora"
export HF_HOME="/scratch/$USER/huggingface"
export TOKENIZERS_PARALLELISM="false"
mkdir -p "$GPUADVISE_OUTPUT_DIR"
GPUADVISE_OUTPUT_DIR=$(cd "$GPUADVISE_OUTPUT_DIR" && pwd)
export GPUADVISE_OUTPUT=$GPUADVISE_OUTPUT_DIR
set -a  # the command runs in a shell of its own
source ~/venvs/vlm/bin/activate
set +a
export PET_NNODES=2 PET_MASTER_ADDR=$MASTER_ADDR PET_MASTER_PORT=$MASTER_PORT
command='srun --nodes=2 --ntasks-per-node=1 --kill-on-bad-exit=1 bash -c '\''export PET_NODE_RANK=$SLURM_NODEID
torchrun --nnodes=2 --nproc_per_node=4 --node_rank=$SLURM_NODEID --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT finetune.py --output_dir "$GPUADVISE_OUTPUT_DIR" --per_device_train_batch_size 3 --gradient_accumulation_steps 5 --bf16 True --gradient_checkpointing True'\'''
run=(gpuadvise run --)
if ! command -v gpuadvise > /dev/null; then  # not on this node: unwatched
  run=()
fi
"${run[@]}" bash -e -o pipefail -c "$command"
