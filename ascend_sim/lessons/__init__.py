"""Lessons: kernels in small steps from naive to tuned, run on simulated cores, each compared with the step before."""

from ascend_sim.lessons.catalog import Lesson, Step, find_lesson, find_step, lessons
from ascend_sim.lessons.comparison import comparison
from ascend_sim.lessons.running import run_step

__all__ = ["Lesson", "Step", "comparison", "find_lesson", "find_step", "lessons", "run_step"]
